import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Exit;

/**
 * One JVM for many checks: reads a JSON request per line, writes a JSON answer per line.
 *
 * {"scenario": name, "bootstrap": host:port, "args": {...}}   runs a method of Scenarios or AdminScenarios
 * {"tool": class, "args": [...], "stdin": text}               runs the main method of one of Kafka's own tools
 *
 * A tool's System.out and System.err are caught, its exit becomes the answer's "exit" (the first one counts: some
 * tools catch everything on their way out), its shutdown hooks run when it ends.
 */
public final class Driver {
    private static final ObjectMapper JSON = new ObjectMapper();

    static final class ToolExit extends RuntimeException {
        private static final long serialVersionUID = 1L;

        ToolExit(int code) {
            super("exit " + code);
        }
    }

    private static final List<Runnable> HOOKS = new ArrayList<>();
    private static Integer firstExit;

    public static void main(String[] ignored) throws Exception {
        PrintStream answers = new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        Exit.setExitProcedure((code, message) -> leave(code));
        Exit.setHaltProcedure((code, message) -> leave(code));
        Exit.setShutdownHookAdder((name, hook) -> HOOKS.add(hook));
        System.setOut(System.err);
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            JsonNode request = JSON.readTree(line);
            Map<String, Object> answer = request.has("tool") ? tool(request) : scenario(request);
            answers.println(JSON.writeValueAsString(answer));
        }
        Runtime.getRuntime().halt(0);
    }

    private static void leave(int code) {
        if (firstExit == null) {
            firstExit = code;
        }
        throw new ToolExit(code);
    }

    private static Map<String, Object> scenario(JsonNode request) {
        Map<String, Object> answer = new LinkedHashMap<>();
        String name = request.get("scenario").asText();
        try {
            Class<?> home = name.startsWith("admin") ? AdminScenarios.class : Scenarios.class;
            Method method = home.getDeclaredMethod(name, String.class, JsonNode.class);
            answer.put("result", method.invoke(null, request.get("bootstrap").asText(), request.get("args")));
            answer.put("ok", true);
        } catch (Throwable failure) {
            answer.put("ok", false);
            answer.put("error", trace(failure));
        }
        return answer;
    }

    private static Map<String, Object> tool(JsonNode request) throws Exception {
        String[] args = JSON.convertValue(request.get("args"), String[].class);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        PrintStream oldOut = System.out;
        PrintStream oldErr = System.err;
        var oldIn = System.in;
        firstExit = null;
        int exit = 0;
        String failure = null;
        System.setIn(new ByteArrayInputStream(request.path("stdin").asText("").getBytes(StandardCharsets.UTF_8)));
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        try {
            call(request.get("tool").asText(), args);
        } catch (ToolExit left) {
            exit = firstExit;
        } catch (Throwable thrown) {
            exit = 1;
            failure = trace(thrown);
        } finally {
            HOOKS.forEach(Runnable::run);
            HOOKS.clear();
            System.out.flush();
            System.err.flush();
            System.setIn(oldIn);
            System.setOut(oldOut);
            System.setErr(oldErr);
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("ok", true);
        answer.put("exit", firstExit == null ? exit : firstExit);
        answer.put("stdout", out.toString(StandardCharsets.UTF_8));
        answer.put("stderr", err.toString(StandardCharsets.UTF_8) + (failure == null ? "" : failure));
        return answer;
    }

    private static void call(String className, String[] args) throws Throwable {
        Method main = Class.forName(className).getMethod("main", String[].class);
        try {
            main.invoke(null, (Object) args);
        } catch (InvocationTargetException wrapped) {
            throw wrapped.getCause();
        }
    }

    private static String trace(Throwable failure) {
        Throwable cause = failure instanceof InvocationTargetException ? failure.getCause() : failure;
        StringWriter text = new StringWriter();
        cause.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
