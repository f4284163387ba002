import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/** What a scenario demands. */
final class Check {
    private Check() { }

    static void that(boolean condition, String message) {
        if (!condition) {
            throw new AssertionError(message);
        }
    }

    static void equal(Object expected, Object actual, String what) {
        that(Objects.equals(expected, actual), what + ": expected " + expected + ", got " + actual);
    }

    static <T> T get(Future<T> future) throws Exception {
        return future.get(120, TimeUnit.SECONDS);
    }

    /** The future must fail with this class of error (the cause of its ExecutionException). */
    static void fails(Class<? extends Throwable> expected, Future<?> future, String what) throws Exception {
        try {
            get(future);
        } catch (ExecutionException failed) {
            that(expected.isInstance(failed.getCause()), what + ": expected " + expected + ", got " + failed.getCause());
            return;
        }
        throw new AssertionError(what + ": expected " + expected.getSimpleName() + ", but it succeeded");
    }

    static void soon(String what, Duration limit, BooleanSupplier condition) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!condition.getAsBoolean()) {
            that(System.nanoTime() < end, "waited in vain: " + what);
            Thread.sleep(20);
        }
    }
}
