import com.sun.tools.attach.VirtualMachine;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.locks.LockSupport;
import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Metric;
import org.apache.kafka.common.MetricName;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Producers and consumers of topics that are there, in one process, with one clock for both ends.
 *
 * <p>Arguments are name=value pairs (see Settings). A run warms up, prints BEGIN, measures, prints END (the caller reads
 * the broker's CPU time at those two lines), stops the producers, waits until the consumers have seen every acknowledged
 * record and prints "RESULT " with one line of JSON. The topics (topic, or topic-0, topic-1 ... if there are several)
 * must take writes already: see bench/topics.py. What they hold from before is not read. The warm-up begins with the
 * first acknowledgement. With rate=0 and steady.seconds=N it goes on for up to N s until no more is acknowledged than
 * before: this JVM compiles itself the later the less of the processors the brokers leave it.
 *
 * <p>entries=Q: as KerA's producers do, number i writes only to those partitions p with p % Q = i % Q.
 *
 * <p>rate=0: as fast as the broker takes it; consumers may be at most backlog.bytes behind. rate=N: record number i
 * is due at start + i/N; its latencies count from that moment, whenever it was really sent, so a stalled broker
 * cannot hide behind a stalled client (no coordinated omission).
 *
 * <p>Each value begins with the due time (System.nanoTime) and, after it, random bytes.
 */
public final class LoadGenerator {
  static final int VALUE_HEAD = 8;
  /** Records go to the partitions in turn: with a divisor of their number all samples would be of the same few. */
  static final int SAMPLE_EVERY = 17;
  static final long READY_TIMEOUT_SECONDS = 60;
  static final long STEADY_WINDOW_NANOS = 3_000_000_000L;
  /** So many windows in a row, none of them with GROWTH times the most of those before: nothing grows any more. */
  static final int STEADY_WINDOWS = 3;
  static final double GROWTH = 1.1;

  /** What the caller chose. */
  record Settings(
      String bootstrap, String topic, int partitions, int producers, int consumers, int rate, int valueBytes,
      int batchBytes, int lingerMs, String acks, double warmupSeconds, double steadySeconds, double seconds,
      long maxBytes, long backlogBytes, int requestBytes, long bufferBytes, int topics, int entries, int inFlight,
      int fetchBytes, String jvms) {

    static Settings of(String[] arguments) {
      Map<String, String> given = new HashMap<>();
      for (String argument : arguments) {
        int cut = argument.indexOf('=');
        if (cut < 1) {
          throw new IllegalArgumentException("not name=value: " + argument);
        }
        given.put(argument.substring(0, cut), argument.substring(cut + 1));
      }
      Settings settings = new Settings(
          need(given, "bootstrap"), need(given, "topic"), integer(given, "partitions", 1),
          integer(given, "producers", 1), integer(given, "consumers", 1), integer(given, "rate", 0),
          integer(given, "value.bytes", 1024), integer(given, "batch.bytes", 16384), integer(given, "linger.ms", 0),
          given.containsKey("acks") ? given.remove("acks") : "all", decimal(given, "warmup.seconds", 3),
          decimal(given, "steady.seconds", 0), decimal(given, "seconds", 10), (long) decimal(given, "max.bytes", 1e18),
          (long) decimal(given, "backlog.bytes", 64e6), integer(given, "request.bytes", 1048576),
          (long) decimal(given, "buffer.bytes", 0), integer(given, "topics", 1), integer(given, "entries", 1),
          integer(given, "in.flight", 0), integer(given, "fetch.bytes", 0),
          given.containsKey("jvms") ? given.remove("jvms") : "");
      if (!given.isEmpty()) {
        throw new IllegalArgumentException("unknown: " + given.keySet());
      }
      return settings;
    }

    List<TopicPartition> places() {
      List<TopicPartition> found = new ArrayList<>();
      for (int number = 0; number < topics; number++) {
        for (int partition = 0; partition < partitions; partition++) {
          found.add(new TopicPartition(topics == 1 ? topic : topic + "-" + number, partition));
        }
      }
      return found;
    }

    private static String need(Map<String, String> given, String name) {
      String value = given.remove(name);
      if (value == null) {
        throw new IllegalArgumentException(name + "= is missing");
      }
      return value;
    }

    private static int integer(Map<String, String> given, String name, int otherwise) {
      String value = given.remove(name);
      return value == null ? otherwise : Integer.parseInt(value);
    }

    private static double decimal(Map<String, String> given, String name, double otherwise) {
      String value = given.remove(name);
      return value == null ? otherwise : Double.parseDouble(value);
    }
  }

  /** Latencies in nanoseconds, all kept, written by one thread. */
  static final class Samples {
    private long[] values = new long[1 << 16];
    private int count;

    void add(long nanos) {
      if (count == values.length) {
        values = Arrays.copyOf(values, count * 2);
      }
      values[count++] = nanos;
    }

    static String json(List<Samples> parts) {
      long[] all = parts.stream().flatMapToLong(part -> Arrays.stream(part.values, 0, part.count)).sorted().toArray();
      if (all.length == 0) {
        return "null";
      }
      StringBuilder text = new StringBuilder("{\"count\":" + all.length);
      long[] perMille = {500, 900, 990, 999};
      String[] names = {"p50", "p90", "p99", "p999"};
      for (int i = 0; i < perMille.length; i++) {
        int rank = (int) ((perMille[i] * all.length + 999) / 1000);
        text.append(String.format(Locale.ROOT, ",\"%s\":%.1f", names[i], all[rank - 1] / 1e3));
      }
      double mean = Arrays.stream(all).average().orElse(0) / 1e3;
      return text + String.format(Locale.ROOT, ",\"mean\":%.1f,\"max\":%.1f}", mean, all[all.length - 1] / 1e3);
    }
  }

  private final Settings settings;
  private final AtomicLong ackedRecords = new AtomicLong();
  private final AtomicLong consumedRecords = new AtomicLong();
  private final AtomicLong errors = new AtomicLong();
  /** Of this second, in nanoseconds, from when a record was due to its ack. */
  private final LongAccumulator slowest = new LongAccumulator(Long::max, 0);
  private final CountDownLatch placed;
  private final List<KafkaProducer<byte[], byte[]>> producers = new CopyOnWriteArrayList<>();
  private final List<KafkaConsumer<byte[], byte[]>> consumers = new CopyOnWriteArrayList<>();
  private final List<MBeanServerConnection> brokers = new ArrayList<>();
  private final StringBuilder seconds = new StringBuilder();
  private final AtomicReference<Throwable> failure = new AtomicReference<>();
  private final List<Samples> ackSamples = new ArrayList<>();
  private final List<Samples> sendSamples = new ArrayList<>();
  private final List<Samples> endToEndSamples = new ArrayList<>();
  private volatile boolean producing = true;
  private volatile boolean consuming = true;
  /** Records due from measureFrom on and before measureUntil are measured (System.nanoTime). */
  private volatile long measureFrom = Long.MAX_VALUE;
  private volatile long measureUntil = Long.MAX_VALUE;

  private LoadGenerator(Settings settings) throws Exception {
    this.settings = settings;
    placed = new CountDownLatch(settings.consumers());
    for (String jvm : settings.jvms().isEmpty() ? new String[0] : settings.jvms().split(",")) {
      VirtualMachine machine = VirtualMachine.attach(jvm);
      brokers.add(JMXConnectorFactory.connect(new JMXServiceURL(machine.startLocalManagementAgent()))
          .getMBeanServerConnection());
      machine.detach();
    }
  }

  /** How often followers have asked the given Apache Kafka brokers for records so far. */
  private long followerFetches() throws Exception {
    long found = 0;
    for (MBeanServerConnection broker : brokers) {
      ObjectName pattern = new ObjectName("kafka.network:type=RequestMetrics,name=RequestsPerSec,request=FetchFollower,*");
      for (ObjectName name : broker.queryNames(pattern, null)) {
        found += (Long) broker.getAttribute(name, "Count");
      }
    }
    return found;
  }

  private static double metric(Map<MetricName, ? extends Metric> metrics, String group, String name) {
    for (Map.Entry<MetricName, ? extends Metric> each : metrics.entrySet()) {
      if (each.getKey().name().equals(name) && each.getKey().group().equals(group)
          && each.getKey().tags().keySet().equals(Set.of("client-id"))) {
        return ((Number) each.getValue().metricValue()).doubleValue();
      }
    }
    return 0;
  }

  /** Requests of all producers, fetches of all consumers, so far. */
  private double[] requests() {
    return new double[] {
        producers.stream().mapToDouble(each -> metric(each.metrics(), "producer-metrics", "request-total")).sum(),
        consumers.stream()
            .mapToDouble(each -> metric(each.metrics(), "consumer-fetch-manager-metrics", "fetch-total")).sum()};
  }

  private void watchSeconds() {
    long acked = 0;
    long consumed = 0;
    long start = System.nanoTime();
    for (long second = 1; measureUntil == Long.MAX_VALUE && failure.get() == null; second++) {
      waitFor(start + second * 1_000_000_000L);
      long nowAcked = ackedRecords.get();
      long nowConsumed = consumedRecords.get();
      String worst = settings.rate() == 0 ? "" : "," + slowest.getThenReset() / 1000;
      seconds.append(String.format(Locale.ROOT, "%s[%d,%d,%d%s]", second == 1 ? "" : ",", second, nowAcked - acked,
          nowConsumed - consumed, worst));
      acked = nowAcked;
      consumed = nowConsumed;
    }
  }

  public static void main(String[] arguments) throws Exception {
    Settings settings = Settings.of(arguments);
    new LoadGenerator(settings).run();
  }

  private void run() throws Exception {
    List<Thread> senders = new ArrayList<>();
    List<Thread> readers = new ArrayList<>();
    for (int i = 0; i < settings.consumers(); i++) {
      int share = i;
      Samples samples = new Samples();
      endToEndSamples.add(samples);
      readers.add(start("consumer-" + i, () -> consume(share, samples)));
    }
    if (!placed.await(READY_TIMEOUT_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the consumers did not find where to begin", failure.get());
    }
    for (int i = 0; i < settings.producers(); i++) {
      int share = i;
      Samples acks = new Samples();
      Samples sends = new Samples();
      ackSamples.add(acks);
      sendSamples.add(sends);
      senders.add(start("producer-" + i, () -> produce(share, acks, sends)));
    }
    sleepUntil(System.nanoTime() + TimeUnit.SECONDS.toNanos(READY_TIMEOUT_SECONDS), 1);
    Thread watcher = start("seconds", this::watchSeconds);
    long began = System.nanoTime();
    warmUp(began);
    double warmup = (System.nanoTime() - began) / 1e9;
    String measured = measure();
    producing = false;
    watcher.join();
    for (Thread sender : senders) {
      sender.join();
    }
    long deadline = System.nanoTime() + 30_000_000_000L;
    while (settings.consumers() > 0 && consumedRecords.get() < ackedRecords.get() && System.nanoTime() < deadline) {
      Thread.sleep(5);
    }
    consuming = false;
    for (Thread reader : readers) {
      reader.join();
    }
    if (failure.get() != null) {
      throw new IllegalStateException("the load failed", failure.get());
    }
    System.out.println("RESULT {" + measured
        + String.format(Locale.ROOT, ",\"warmup_seconds\":%.1f", warmup)
        + ",\"ack_us\":" + Samples.json(ackSamples)
        + ",\"ack_from_send_us\":" + Samples.json(sendSamples)
        + ",\"end_to_end_us\":" + Samples.json(endToEndSamples)
        + ",\"per_second\":[" + seconds + "]"
        + ",\"errors\":" + errors.get()
        + ",\"acked_total\":" + ackedRecords.get()
        + ",\"consumed_total\":" + consumedRecords.get() + "}");
  }

  /** Load that is not measured, for the settings' time; if they say so until it is steady or has sent enough. */
  private void warmUp(long began) throws InterruptedException {
    sleepUntil(began + (long) (settings.warmupSeconds() * 1e9), Long.MAX_VALUE);
    long most = settings.rate() > 0 ? began : began + (long) (settings.steadySeconds() * 1e9);
    long enough = settings.maxBytes() / settings.valueBytes();
    double best = 0;
    int steady = 0;
    while (steady < STEADY_WINDOWS && System.nanoTime() < most && ackedRecords.get() < enough
        && failure.get() == null) {
      long from = System.nanoTime();
      long acked = ackedRecords.get();
      sleepUntil(Math.min(from + STEADY_WINDOW_NANOS, most), enough);
      double rate = (ackedRecords.get() - acked) / (double) (System.nanoTime() - from);
      steady = rate < best * GROWTH ? steady + 1 : 0;
      best = Math.max(best, rate);
    }
  }

  /** The measured part of a run; the counts of that part as JSON fields. */
  private String measure() throws Exception {
    var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    double[] requests = requests();
    long fetches = followerFetches();
    System.out.println("BEGIN");
    System.out.flush();
    long begin = System.nanoTime();
    long cpu = system.getProcessCpuTime();
    long acked = ackedRecords.get();
    long consumed = consumedRecords.get();
    measureFrom = begin;
    sleepUntil(begin + (long) (settings.seconds() * 1e9), acked + settings.maxBytes() / settings.valueBytes());
    long end = System.nanoTime();
    measureUntil = end;
    acked = ackedRecords.get() - acked;
    consumed = consumedRecords.get() - consumed;
    cpu = system.getProcessCpuTime() - cpu;
    System.out.println("END");
    System.out.flush();
    double[] after = requests();
    long fetched = followerFetches() - fetches;
    double batch = producers.stream().mapToDouble(each -> metric(each.metrics(), "producer-metrics", "batch-size-avg"))
        .filter(size -> size > 0).average().orElse(0);
    return String.format(Locale.ROOT,
        "\"produce_requests\":%.0f,\"fetch_requests\":%.0f,\"follower_fetches\":%s,\"batch_bytes\":%.1f,"
            + "\"seconds\":%.4f,\"acked_records\":%d,\"acked_bytes\":%d,\"consumed_records\":%d,\"consumed_bytes\":%d,"
            + "\"generator_cpu_s\":%.3f",
        after[0] - requests[0], after[1] - requests[1], brokers.isEmpty() ? "null" : fetched, batch,
        (end - begin) / 1e9, acked, acked * settings.valueBytes(), consumed, consumed * settings.valueBytes(), cpu / 1e9);
  }

  private void sleepUntil(long moment, long enoughRecords) throws InterruptedException {
    while (System.nanoTime() < moment && ackedRecords.get() < enoughRecords && failure.get() == null) {
      Thread.sleep(2);
    }
  }

  private Thread start(String name, Runnable body) {
    Thread thread = new Thread(() -> {
      try {
        body.run();
      } catch (Throwable thrown) {
        failure.compareAndSet(null, thrown);
      }
    }, name);
    thread.start();
    return thread;
  }

  private void produce(int share, Samples acks, Samples sends) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", settings.bootstrap());
    properties.put("acks", settings.acks());
    properties.put("batch.size", settings.batchBytes());
    properties.put("linger.ms", settings.lingerMs());
    properties.put("max.request.size", Math.max(settings.requestBytes(), settings.batchBytes() + 1024));
    if (settings.inFlight() > 0) {
      properties.put("max.in.flight.requests.per.connection", settings.inFlight());
    }
    List<TopicPartition> mine = settings.places().stream()
        .filter(place -> place.partition() % settings.entries() == share % settings.entries()).toList();
    long buffer = Math.max(33554432L, 4L * settings.batchBytes() * mine.size());
    // At the end batch-size-avg is of its three last windows: none of them begins before the measured part.
    properties.put("metrics.sample.window.ms", Math.max(1, (long) (settings.seconds() * 1000 / 3)));
    properties.put("buffer.memory", settings.bufferBytes() > 0 ? settings.bufferBytes() : buffer);
    properties.put("key.serializer", ByteArraySerializer.class.getName());
    properties.put("value.serializer", ByteArraySerializer.class.getName());
    byte[] value = new byte[settings.valueBytes()];
    new Random(share).nextBytes(value);
    try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties)) {
      producers.add(producer);
      for (TopicPartition place : mine) {
        producer.partitionsFor(place.topic());
      }
      long start = System.nanoTime();
      double period = settings.rate() == 0 ? 0 : 1e9 * settings.producers() / settings.rate();
      for (long number = 0; failure.get() == null; number++) {
        long due = settings.rate() == 0 ? System.nanoTime() : start + (long) (number * period);
        // What was due in the measured part is sent, however late: else a broker that stalls would hide it.
        if (!producing && (settings.rate() == 0 || due >= measureUntil)) {
          break;
        }
        if (settings.rate() == 0) {
          waitForConsumers();
          due = System.nanoTime();
        } else {
          waitFor(due);
        }
        send(producer, value, mine.get((int) ((share + number) % mine.size())), due, number, acks, sends);
      }
      producer.flush();
    }
  }

  private void send(
      KafkaProducer<byte[], byte[]> producer, byte[] value, TopicPartition place, long due, long number, Samples acks,
      Samples sends) {
    for (int i = 0; i < VALUE_HEAD; i++) {
      value[i] = (byte) (due >>> (8 * i));
    }
    long sent = System.nanoTime();
    boolean sampled = settings.rate() > 0 || number % SAMPLE_EVERY == 0;
    producer.send(new ProducerRecord<>(place.topic(), place.partition(), null, value), (metadata, problem) -> {
      if (problem != null) {
        errors.incrementAndGet();
        failure.compareAndSet(null, problem);
        return;
      }
      ackedRecords.incrementAndGet();
      if (sampled) {
        long now = System.nanoTime();
        slowest.accumulate(now - due);
        if (due >= measureFrom && due < measureUntil) {
          acks.add(now - due);
          sends.add(now - sent);
        }
      }
    });
  }

  private void waitFor(long due) {
    for (long left = due - System.nanoTime(); left > 0 && producing; left = due - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  private void waitForConsumers() {
    long allowed = settings.backlogBytes() / settings.valueBytes() + 1;
    while (settings.consumers() > 0 && producing && failure.get() == null
        && ackedRecords.get() - consumedRecords.get() > allowed) {
      LockSupport.parkNanos(100_000);
    }
  }

  private void consume(int share, Samples samples) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", settings.bootstrap());
    properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
    properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
    if (settings.fetchBytes() > 0) {
      properties.put("max.partition.fetch.bytes", settings.fetchBytes());
    }
    List<TopicPartition> places = settings.places();
    List<TopicPartition> mine = new ArrayList<>();
    for (int number = share; number < places.size(); number += settings.consumers()) {
      mine.add(places.get(number));
    }
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties)) {
      consumer.assign(mine);
      consumer.endOffsets(mine).forEach(consumer::seek);
      consumers.add(consumer);
      placed.countDown();
      long seen = 0;
      while (consuming && failure.get() == null) {
        var records = consumer.poll(Duration.ofMillis(100));
        long now = System.nanoTime();
        for (ConsumerRecord<byte[], byte[]> record : records) {
          long due = head(record.value());
          if (due >= measureFrom && due < measureUntil && (settings.rate() > 0 || seen % SAMPLE_EVERY == 0)) {
            samples.add(now - due);
          }
          seen++;
        }
        consumedRecords.addAndGet(records.count());
      }
    }
  }

  private static long head(byte[] value) {
    long due = 0;
    for (int i = VALUE_HEAD - 1; i >= 0; i--) {
      due = due << 8 | (value[i] & 0xff);
    }
    return due;
  }
}
