import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;
import org.HdrHistogram.HistogramIterationValue;
import org.HdrHistogram.Recorder;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A load worker: any number of producers and consumers in one process, told what to do line by line.
 *
 * <p>Each line of standard input is a JSON object whose one field names the command; each gets one line of JSON on
 * standard output, {"reply": command, ...} or {"failed": command, "error": text}. While clients are open a line
 * {"second": n, "counters": {...}} comes every second as well. bench/workers.py holds the other end and describes
 * the commands and what is in the answers.
 *
 * <p>Latencies are microseconds, every event is counted: HdrHistogram with five digits is an array indexed by the
 * latency, exact to 262 ms and to 1 part in 131,072 above. Three are taken of a published record: "publish" from the
 * call of send to its acknowledgement, "delay" from when the schedule wanted it sent to the call, and "intended" from
 * the schedule to the acknowledgement, which no stalled client hides (no coordinated omission); "end_to_end" ends
 * when the consumer has the record. The schedule is shared by all producers of a worker: event i is due at
 * start + i / rate, whatever became of those before it.
 *
 * <p>The clock is System.nanoTime, tied to the epoch once, when the worker starts.
 */
public final class Worker {
  static final byte[] PROBE_KEY = "key".getBytes();
  static final int PROBE_BYTES = 10;
  static final int TIME_BYTES = 8;
  static final int ROW_BYTES = 24;
  static final int ROWS_BUFFERED = 8192;
  static final int UNIQUE_KEYS = 10_000;
  static final int TOPICS_AT_ONCE = 500;
  static final double FASTEST = -1;
  static final long NEVER = Long.MAX_VALUE;
  static final ObjectMapper JSON = new ObjectMapper();

  /** System.nanoTime plus this is nanoseconds since the epoch. */
  static final long EPOCH_NANOS = epochNanos();

  private static long epochNanos() {
    long offset = 0;
    long closest = Long.MAX_VALUE;
    for (int i = 0; i < 1000; i++) {
      long before = System.nanoTime();
      Instant now = Instant.now();
      long after = System.nanoTime();
      if (after - before < closest) {
        closest = after - before;
        offset = TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano() - (before + after) / 2;
      }
    }
    return offset;
  }

  static long epochMicros(long nanoTime) {
    return (nanoTime + EPOCH_NANOS) / 1000;
  }

  /** When events are due: number i at start + i / rate; FASTEST: now; 0: never. After `events` of them: never. */
  static final class Schedule {
    private final double rate;
    private final long events;
    private final long start;
    private final AtomicLong next;

    private final long end;

    Schedule(double rate, long events) {
      this(rate, events, System.nanoTime(), new AtomicLong(), Long.MAX_VALUE);
    }

    private Schedule(double rate, long events, long start, AtomicLong next, long end) {
      this.rate = rate;
      this.events = events;
      this.start = start;
      this.next = next;
      this.end = end;
    }

    /** The same, without the events that are due from now on. */
    Schedule ended() {
      long now = System.nanoTime();
      long due = rate > 0 ? (long) ((now - start) * rate / 1e9) + 1 : next.get();
      return new Schedule(rate, Math.min(events, due), start, next, now);
    }

    /** The next event's moment (System.nanoTime), or NEVER. */
    long acquire() {
      if (rate == 0) {
        return NEVER;
      }
      long number = next.getAndIncrement();
      if (number >= events) {
        return NEVER;
      }
      return rate == FASTEST ? System.nanoTime() : start + (long) (number * 1e9 / rate);
    }
  }

  /** Rows of one event each, for whoever wants every event: see workers.py for their layout. */
  final class Rows {
    private final ByteBuffer buffer = ByteBuffer.allocate(ROW_BYTES * ROWS_BUFFERED).order(ByteOrder.LITTLE_ENDIAN);

    synchronized void add(long intended, long delay, long latency, int bytes, int kind, int client) {
      buffer.putLong(epochMicros(intended)).putInt((int) Math.min(delay, Integer.MAX_VALUE));
      buffer.putInt((int) Math.min(latency, Integer.MAX_VALUE)).putInt(bytes);
      buffer.putShort((short) kind).putShort((short) client);
      if (!buffer.hasRemaining()) {
        flush();
      }
    }

    synchronized void flush() {
      buffer.flip();
      try {
        synchronized (raw) {
          while (buffer.hasRemaining()) {
            raw.write(buffer);
          }
        }
      } catch (IOException failure) {
        fail(failure);
      }
      buffer.clear();
    }
  }

  /** A producer, the topic it writes, and the partitions it takes in turn (none: the client chooses). */
  final class Sender {
    final KafkaProducer<byte[], byte[]> producer;
    final String topic;
    final int[] partitions;
    final int number;
    final Rows rows = raw == null ? null : new Rows();
    private long sent;

    Sender(JsonNode wanted, Properties properties, int number) {
      this.number = number;
      topic = wanted.get("topic").asText();
      JsonNode listed = wanted.path("partitions");
      partitions = new int[listed.size()];
      for (int i = 0; i < partitions.length; i++) {
        partitions[i] = listed.get(i).asInt();
      }
      producer = new KafkaProducer<>(properties);
    }

    void probe() {
      producer.send(new ProducerRecord<>(topic, PROBE_KEY, new byte[PROBE_BYTES]), (metadata, problem) -> {
        if (problem == null) {
          probesAcked.increment();
        } else {
          fail(problem);
        }
      });
    }

    void send(byte[] key, byte[] value, long due) {
      long now = System.nanoTime();
      if (carriesTime) {
        ByteBuffer.wrap(value).putLong(0, epochMicros(due));
      }
      Integer partition = partitions.length == 0 ? null : partitions[(int) (sent++ % partitions.length)];
      try {
        var record = new ProducerRecord<>(topic, partition, key, value);
        issued.increment();
        var future = producer.send(record, (metadata, problem) -> acked(metadata, problem, value.length, due, now));
        if (flushEach) {
          future.get();
        }
      } catch (ExecutionException refused) {
        // The callback has counted it.
      } catch (Exception failure) {
        errors.increment();
        fail(failure);
      }
    }

    private void acked(RecordMetadata metadata, Exception problem, int bytes, long due, long sentAt) {
      if (problem != null) {
        errors.increment();
        fail(problem);
        return;
      }
      long now = System.nanoTime();
      long latency = (now - sentAt) / 1000;
      long delay = Math.max(0, sentAt - due) / 1000;
      long intended = Math.max(0, now - due) / 1000;
      acked.increment();
      ackedBytes.add(bytes);
      publishTimes.recordValue(latency);
      delayTimes.recordValue(delay);
      intendedTimes.recordValue(intended);
      if (rows != null) {
        rows.add(due, delay, intended, bytes, 0, number);
      }
    }
  }

  /** A consumer with its thread: a member of a group, or the reader of given partitions from their beginning. */
  final class Reader implements Runnable {
    final KafkaConsumer<byte[], byte[]> consumer;
    final int number;
    final boolean commits;
    final Rows rows = raw == null ? null : new Rows();
    final Thread thread;

    Reader(JsonNode wanted, Properties shared, int number) {
      this.number = number;
      Properties properties = new Properties();
      properties.putAll(shared);
      boolean grouped = wanted.hasNonNull("group");
      if (grouped) {
        properties.put("group.id", wanted.get("group").asText());
      }
      commits = grouped && !Boolean.parseBoolean(properties.getProperty("enable.auto.commit", "false"));
      consumer = new KafkaConsumer<>(properties);
      String topic = wanted.get("topic").asText();
      if (grouped) {
        consumer.subscribe(List.of(topic));
      } else {
        List<TopicPartition> mine = new ArrayList<>();
        wanted.get("partitions").forEach(partition -> mine.add(new TopicPartition(topic, partition.asInt())));
        consumer.assign(mine);
        consumer.seekToBeginning(mine);
      }
      thread = new Thread(this, "consumer-" + number);
    }

    @Override
    public void run() {
      while (open) {
        try {
          read(consumer.poll(Duration.ofMillis(100)));
        } catch (WakeupException ended) {
          break;
        } catch (Exception failure) {
          errors.increment();
          fail(failure);
        }
      }
      consumer.close();
    }

    private void read(ConsumerRecords<byte[], byte[]> records) {
      Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
      for (TopicPartition partition : records.partitions()) {
        List<ConsumerRecord<byte[], byte[]>> listed = records.records(partition);
        for (ConsumerRecord<byte[], byte[]> record : listed) {
          received(record);
          while (paused && open) {
            LockSupport.parkNanos(10_000_000);
          }
        }
        offsets.put(partition, new OffsetAndMetadata(listed.get(listed.size() - 1).offset() + 1));
      }
      if (commits && !offsets.isEmpty()) {
        consumer.commitAsync(offsets, null);
      }
    }

    private void received(ConsumerRecord<byte[], byte[]> record) {
      long now = System.nanoTime();
      int bytes = record.value().length;
      if (bytes == PROBE_BYTES && record.key() != null && record.key().length == PROBE_KEY.length) {
        probesReceived.increment();
        return;
      }
      received.increment();
      receivedBytes.add(bytes);
      long sent = carriesTime ? ByteBuffer.wrap(record.value()).getLong(0) : record.timestamp() * 1000;
      long latency = carriesTime ? epochMicros(now) - sent : (System.currentTimeMillis() - record.timestamp()) * 1000;
      if (latency > 0 || carriesTime) {
        endToEndTimes.recordValue(Math.max(0, latency));
      }
      if (rows != null) {
        rows.add(sent * 1000 - EPOCH_NANOS, 0, Math.max(0, latency), bytes, 1, number);
      }
    }
  }

  private final LongAdder issued = new LongAdder();
  private final LongAdder acked = new LongAdder();
  private final LongAdder ackedBytes = new LongAdder();
  private final LongAdder errors = new LongAdder();
  private final LongAdder received = new LongAdder();
  private final LongAdder receivedBytes = new LongAdder();
  private final LongAdder probesAcked = new LongAdder();
  private final LongAdder probesReceived = new LongAdder();
  private final Recorder publishTimes = new Recorder(5);
  private final Recorder delayTimes = new Recorder(5);
  private final Recorder intendedTimes = new Recorder(5);
  private final Recorder endToEndTimes = new Recorder(5);
  private final List<Sender> senders = new ArrayList<>();
  private final List<Reader> readers = new ArrayList<>();
  private final List<Thread> sending = new ArrayList<>();
  private final PrintStream answers;
  private FileChannel raw;
  private boolean carriesTime;
  private boolean flushEach;
  private volatile Schedule schedule = new Schedule(0, 0);
  private volatile boolean open = true;
  private volatile boolean paused;
  private volatile String firstError;

  public static void main(String[] arguments) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err); // Where a library's log lines go then: between answers they would be none.
    new Worker(answers).serve();
  }

  private Worker(PrintStream answers) {
    this.answers = answers;
  }

  private void serve() throws IOException {
    BufferedReader commands = new BufferedReader(new InputStreamReader(System.in));
    for (String line = commands.readLine(); line != null; line = commands.readLine()) {
      var command = JSON.readTree(line).properties().iterator().next();
      ObjectNode reply = JSON.createObjectNode();
      try {
        reply.put("reply", command.getKey());
        carryOut(command.getKey(), command.getValue(), reply);
      } catch (Exception failure) {
        reply.remove("reply");
        reply.put("failed", command.getKey()).put("error", text(failure));
      }
      print(reply);
    }
    Runtime.getRuntime().halt(0);
  }

  private void carryOut(String command, JsonNode given, ObjectNode reply) throws Exception {
    switch (command) {
      case "createTopics" -> createTopics(given);
      case "deleteTopics" -> deleteTopics(given);
      case "open" -> open(given);
      case "probe" -> senders.forEach(Sender::probe);
      case "rate" -> schedule = new Schedule(given.get("perSecond").asDouble(), given.path("events").asLong(NEVER));
      case "endSchedule" -> {
        schedule = schedule.ended();
        sending.forEach(LockSupport::unpark); // Who waits for what would be due now looks again.
        reply.put("due", senders.isEmpty() ? 0 : schedule.events);
      }
      case "pauseConsumers" -> paused = true;
      case "resumeConsumers" -> paused = false;
      case "counters" -> reply.set("counters", counters());
      case "take" -> {
        reply.set("counters", counters());
        reply.set("histograms", histograms());
      }
      case "flush" -> {
        schedule = new Schedule(0, 0);
        senders.forEach(sender -> sender.producer.flush());
        reply.set("counters", counters());
      }
      case "stop" -> {
        stop();
        reply.set("counters", counters());
      }
      default -> throw new IllegalArgumentException("no such command");
    }
  }

  private void print(ObjectNode line) throws IOException {
    String written = JSON.writeValueAsString(line);
    synchronized (answers) {
      answers.println(written);
      answers.flush();
    }
  }

  private static String text(Throwable failure) {
    Throwable cause = failure instanceof ExecutionException && failure.getCause() != null ? failure.getCause() : failure;
    return cause.getClass().getSimpleName() + ": " + cause.getMessage();
  }

  private void fail(Throwable failure) {
    if (firstError == null) {
      firstError = text(failure);
    }
  }

  private static Properties properties(JsonNode... parts) {
    Properties found = new Properties();
    for (JsonNode part : parts) {
      part.properties().forEach(field -> found.put(field.getKey(), field.getValue().asText()));
    }
    return found;
  }

  /** Creates topics, and returns when all of their partitions serve (see LoadGenerator.awaitPartitions). */
  private void createTopics(JsonNode given) throws Exception {
    try (Admin admin = Admin.create(properties(given.get("common")))) {
      List<NewTopic> batch = new ArrayList<>();
      Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
      for (JsonNode topic : given.get("topics")) {
        String name = topic.get("name").asText();
        Map<String, String> configs = new HashMap<>();
        topic.path("configs").properties().forEach(f -> configs.put(f.getKey(), f.getValue().asText()));
        int partitions = topic.get("partitions").asInt();
        batch.add(new NewTopic(name, partitions, (short) topic.get("replicas").asInt()).configs(configs));
        for (int partition = 0; partition < partitions; partition++) {
          ends.put(new TopicPartition(name, partition), OffsetSpec.latest());
        }
        if (batch.size() == TOPICS_AT_ONCE) {
          admin.createTopics(batch).all().get();
          batch.clear();
        }
      }
      admin.createTopics(batch).all().get();
      for (long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60); ; Thread.sleep(50)) {
        try {
          admin.listOffsets(ends).all().get();
          return;
        } catch (ExecutionException notYet) {
          if (!(notYet.getCause() instanceof RetriableException) || System.nanoTime() > deadline) {
            throw notYet;
          }
        }
      }
    }
  }

  private void deleteTopics(JsonNode given) throws Exception {
    List<String> names = new ArrayList<>();
    given.get("topics").forEach(name -> names.add(name.asText()));
    try (Admin admin = Admin.create(properties(given.get("common")))) {
      admin.deleteTopics(names).all().get();
    }
  }

  private void open(JsonNode given) throws Exception {
    carriesTime = given.path("endToEnd").asText("record").equals("payload");
    flushEach = given.path("flushEach").asBoolean();
    if (given.hasNonNull("raw")) {
      raw = FileChannel.open(Path.of(given.get("raw").asText()), StandardOpenOption.CREATE, StandardOpenOption.WRITE,
          StandardOpenOption.TRUNCATE_EXISTING);
    }
    Properties producer = properties(given.path("common"), given.path("producer"));
    producer.put("key.serializer", ByteArraySerializer.class.getName());
    producer.put("value.serializer", ByteArraySerializer.class.getName());
    Properties consumer = properties(given.path("common"), given.path("consumer"));
    consumer.put("key.deserializer", ByteArrayDeserializer.class.getName());
    consumer.put("value.deserializer", ByteArrayDeserializer.class.getName());
    for (JsonNode wanted : given.path("consumers")) {
      readers.add(new Reader(wanted, consumer, readers.size()));
    }
    readers.forEach(reader -> reader.thread.start());
    for (JsonNode wanted : given.path("producers")) {
      Sender sender = new Sender(wanted, producer, senders.size());
      sender.producer.partitionsFor(sender.topic);
      senders.add(sender);
    }
    if (!senders.isEmpty()) {
      startSending(given);
    }
    daemon("seconds", this::reportSeconds).start();
  }

  private void startSending(JsonNode given) throws IOException {
    int threads = given.path("threads").asInt(flushEach ? senders.size() : Runtime.getRuntime().availableProcessors());
    byte[][] payloads = payloads(given.get("payload"));
    byte[][] keys = keys(given.path("keys").asText("NO_KEY"));
    boolean byTime = given.path("keys").asText().equals("RANDOM_NANO");
    for (int thread = 0; thread < Math.min(threads, senders.size()); thread++) {
      List<Sender> mine = new ArrayList<>();
      for (int i = thread; i < senders.size(); i += threads) {
        mine.add(senders.get(i));
      }
      byte[][] own = new byte[payloads.length][];
      for (int i = 0; i < own.length; i++) {
        own[i] = payloads[i].clone();
      }
      sending.add(daemon("sender-" + thread, () -> sendAll(mine, own, keys, byTime)));
    }
    sending.forEach(Thread::start);
  }

  /** Each of the thread's producers sends one event in turn, each when the shared schedule says. */
  private void sendAll(List<Sender> mine, byte[][] payloads, byte[][] keys, boolean byTime) {
    Random random = new Random();
    long number = 0;
    while (open) {
      for (Sender sender : mine) {
        long due = awaitTurn();
        if (due == NEVER) {
          return;
        }
        byte[] key = null;
        if (keys.length > 0) {
          key = keys[(int) Math.floorMod(byTime ? System.nanoTime() : ++number, (long) keys.length)];
        }
        sender.send(key, payloads.length == 1 ? payloads[0] : payloads[random.nextInt(payloads.length)], due);
      }
    }
  }

  /** The next event's due time, once it has come; NEVER when the worker stops. */
  private long awaitTurn() {
    while (open) {
      Schedule current = schedule;
      long due = current.acquire();
      if (due == NEVER) {
        LockSupport.parkNanos(1_000_000);
        continue;
      }
      for (long left = due - System.nanoTime(); left > 0 && open && current == schedule; left = due - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
      if (current == schedule || due <= Math.min(System.nanoTime(), schedule.end)) {
        return due;
      }
    }
    return NEVER;
  }

  private static byte[][] payloads(JsonNode given) throws IOException {
    if (given.hasNonNull("file")) {
      return new byte[][] {Files.readAllBytes(Path.of(given.get("file").asText()))};
    }
    int size = given.get("bytes").asInt();
    byte[] random = new byte[(int) (size * given.path("randomRatio").asDouble(1))];
    byte[][] pool = new byte[Math.max(1, given.path("pool").asInt(1))][];
    Random source = new Random();
    for (int i = 0; i < pool.length; i++) {
      source.nextBytes(random);
      pool[i] = new byte[size];
      System.arraycopy(random, 0, pool[i], 0, random.length);
    }
    return pool;
  }

  private static byte[][] keys(String distributor) {
    if (distributor.equals("NO_KEY")) {
      return new byte[0][];
    }
    Random random = new Random();
    byte[][] keys = new byte[UNIQUE_KEYS][];
    byte[] bytes = new byte[7];
    for (int i = 0; i < keys.length; i++) {
      random.nextBytes(bytes);
      keys[i] = Base64.getUrlEncoder().withoutPadding().encode(bytes);
    }
    return keys;
  }

  private static Thread daemon(String name, Runnable body) {
    Thread thread = new Thread(body, name);
    thread.setDaemon(true);
    return thread;
  }

  private void reportSeconds() {
    long start = System.nanoTime();
    for (long second = 1; open; second++) {
      long due = start + TimeUnit.SECONDS.toNanos(second);
      for (long left = due - System.nanoTime(); left > 0 && open; left = due - System.nanoTime()) {
        LockSupport.parkNanos(Math.min(left, 50_000_000));
      }
      if (open) {
        ObjectNode line = JSON.createObjectNode().put("second", second);
        line.set("counters", counters());
        try {
          print(line);
        } catch (IOException gone) {
          return;
        }
      }
    }
  }

  /** Everything since the worker opened its clients; errors come with the first one's text. */
  private ObjectNode counters() {
    var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    ObjectNode found = JSON.createObjectNode().put("at_us", epochMicros(System.nanoTime()));
    found.put("sent", issued.sum()).put("acked", acked.sum()).put("acked_bytes", ackedBytes.sum());
    found.put("errors", errors.sum()).put("received", received.sum()).put("received_bytes", receivedBytes.sum());
    found.put("probes_acked", probesAcked.sum()).put("probes_received", probesReceived.sum());
    found.put("produce_requests", (long) senders.stream().mapToDouble(s -> requests(s.producer.metrics())).sum());
    found.put("consume_requests", (long) readers.stream().mapToDouble(r -> requests(r.consumer.metrics())).sum());
    found.put("cpu_s", system.getProcessCpuTime() / 1e9).put("first_error", firstError);
    return found;
  }

  /** All that a client has sent to brokers, by its own count. */
  private static double requests(Map<MetricName, ? extends Metric> metrics) {
    for (var metric : metrics.entrySet()) {
      MetricName name = metric.getKey();
      boolean whole = name.group().equals("producer-metrics") || name.group().equals("consumer-metrics");
      if (whole && name.name().equals("request-total")) {
        return (Double) metric.getValue().metricValue();
      }
    }
    return 0;
  }

  /** What the histograms counted since they were taken last. All are taken before any is written down. */
  private ObjectNode histograms() {
    Histogram publish = publishTimes.getIntervalHistogram();
    Histogram delay = delayTimes.getIntervalHistogram();
    Histogram intended = intendedTimes.getIntervalHistogram();
    Histogram endToEnd = endToEndTimes.getIntervalHistogram();
    ObjectNode found = JSON.createObjectNode();
    found.set("publish", histogram(publish));
    found.set("delay", histogram(delay));
    found.set("intended", histogram(intended));
    found.set("end_to_end", histogram(endToEnd));
    return found;
  }

  private static ObjectNode histogram(Histogram taken) {
    ObjectNode found = JSON.createObjectNode();
    ArrayNode values = found.putArray("us");
    ArrayNode counts = found.putArray("counts");
    for (HistogramIterationValue value : taken.recordedValues()) {
      values.add(value.getValueIteratedTo());
      counts.add(value.getCountAtValueIteratedTo());
    }
    return found;
  }

  private void stop() throws Exception {
    open = false;
    for (Thread thread : sending) {
      LockSupport.unpark(thread);
      thread.join(10_000);
    }
    for (Sender sender : senders) {
      sender.producer.close(Duration.ofSeconds(30));
      if (sender.rows != null) {
        sender.rows.flush();
      }
    }
    for (Reader reader : readers) {
      reader.consumer.wakeup();
    }
    for (Reader reader : readers) {
      reader.thread.join(10_000);
      if (reader.rows != null) {
        reader.rows.flush();
      }
    }
    if (raw != null) {
      raw.close();
    }
  }
}
