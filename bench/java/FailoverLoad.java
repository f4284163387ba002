import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Idempotent producers and one consumer that go on while brokers die; every acknowledgement is told to the parent.
 *
 * <p>Arguments: bootstrap, topic, number of partitions (all are read), the producers' partitions ("0,4,8;1,5,9"),
 * records per second of each producer, file with noise, size. Record {@code number} of a partition is
 * {@code "partition:number:"} and up to {@code size} bytes of the noise, as bench/failover/promises.py makes it, so
 * that the consumer can compare each to the last byte: number = offset, since nobody else writes.
 *
 * <p>Output, big endian: kind (1 B), partition (4 B), number, offset, System.nanoTime() (8 B each); kinds: A
 * acknowledged, R read up to {@code number}, S sent {@code number} in all (at the end), F failure (number = length of
 * the text that follows). Ends when its standard input does, after all is acknowledged.
 */
public final class FailoverLoad {
  static final int NEVER_MS = 900_000;

  private final String bootstrap;
  private final String topic;
  private final int partitions;
  private final double rate;
  private final byte[] noise;
  private final int size;
  private final DataOutputStream out = new DataOutputStream(new BufferedOutputStream(System.out, 1 << 16));
  private volatile boolean running = true;
  private volatile boolean reading = true;

  private FailoverLoad(String[] arguments) throws IOException {
    bootstrap = arguments[0];
    topic = arguments[1];
    partitions = Integer.parseInt(arguments[2]);
    rate = Double.parseDouble(arguments[4]);
    noise = Files.readAllBytes(Path.of(arguments[5]));
    size = Integer.parseInt(arguments[6]);
  }

  public static void main(String[] arguments) throws Exception {
    FailoverLoad load = new FailoverLoad(arguments);
    List<Thread> producers = new ArrayList<>();
    for (String share : arguments[3].split(";")) {
      int[] mine = Arrays.stream(share.split(",")).mapToInt(Integer::parseInt).toArray();
      producers.add(load.start(() -> load.produce(mine)));
    }
    Thread reader = load.start(load::consume);
    Thread flusher = new Thread(load::flushOften);
    flusher.setDaemon(true);
    flusher.start();
    while (System.in.read() >= 0) {
      continue;
    }
    load.running = false;
    for (Thread producer : producers) {
      producer.join();
    }
    load.reading = false;
    reader.join();
    synchronized (load.out) {
      load.out.flush();
    }
  }

  private Thread start(Runnable body) {
    Thread thread = new Thread(() -> {
      try {
        body.run();
      } catch (Throwable thrown) {
        fail(-1, thrown.toString());
      }
    });
    thread.start();
    return thread;
  }

  private void tell(char kind, int partition, long number, long offset) {
    long now = System.nanoTime();
    try {
      synchronized (out) {
        out.writeByte(kind);
        out.writeInt(partition);
        out.writeLong(number);
        out.writeLong(offset);
        out.writeLong(now);
      }
    } catch (IOException gone) {
      running = false;
    }
  }

  private void fail(int partition, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    synchronized (out) {
      tell('F', partition, bytes.length, 0);
      try {
        out.write(bytes);
      } catch (IOException gone) {
        running = false;
      }
    }
  }

  private void flushOften() {
    while (true) {
      LockSupport.parkNanos(5_000_000);
      try {
        synchronized (out) {
          out.flush();
        }
      } catch (IOException gone) {
        return;
      }
    }
  }

  private byte[] value(int partition, long number) {
    byte[] head = (partition + ":" + number + ":").getBytes(StandardCharsets.US_ASCII);
    int start = (int) ((partition * 7_919L + number * 104_729L) % (noise.length / 2));
    int length = start % size;
    byte[] whole = Arrays.copyOf(head, head.length + length);
    System.arraycopy(noise, start, whole, head.length, length);
    return whole;
  }

  private void produce(int[] mine) {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", bootstrap);
    properties.put("acks", "all");
    properties.put("enable.idempotence", "true");
    properties.put("linger.ms", "1");
    properties.put("delivery.timeout.ms", NEVER_MS);
    properties.put("max.block.ms", NEVER_MS);
    properties.put("request.timeout.ms", 2000);
    properties.put("retry.backoff.ms", 50);
    properties.put("retry.backoff.max.ms", 200);
    properties.put("reconnect.backoff.ms", 20);
    properties.put("reconnect.backoff.max.ms", 200);
    properties.put("key.serializer", ByteArraySerializer.class.getName());
    properties.put("value.serializer", ByteArraySerializer.class.getName());
    long[] next = new long[mine.length];
    try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(properties)) {
      long start = System.nanoTime();
      for (long turn = 0; running; turn++) {
        long due = start + (long) (turn * 1e9 / rate);
        for (long left = due - System.nanoTime(); left > 0 && running; left = due - System.nanoTime()) {
          LockSupport.parkNanos(left);
        }
        int place = (int) (turn % mine.length);
        int partition = mine[place];
        long number = next[place]++;
        producer.send(new ProducerRecord<>(topic, partition, null, value(partition, number)), (where, problem) -> {
          if (problem != null) {
            fail(partition, "record " + number + ": " + problem);
          } else {
            tell('A', partition, number, where.offset());
          }
        });
      }
      producer.flush();
    }
    for (int place = 0; place < mine.length; place++) {
      tell('S', mine[place], next[place], 0);
    }
  }

  private void consume() {
    Properties properties = new Properties();
    properties.put("bootstrap.servers", bootstrap);
    properties.put("auto.offset.reset", "none");
    properties.put("enable.auto.commit", "false");
    properties.put("retry.backoff.ms", 50);
    properties.put("reconnect.backoff.ms", 20);
    properties.put("reconnect.backoff.max.ms", 200);
    properties.put("request.timeout.ms", 2000);
    properties.put("default.api.timeout.ms", NEVER_MS);
    properties.put("key.deserializer", ByteArrayDeserializer.class.getName());
    properties.put("value.deserializer", ByteArrayDeserializer.class.getName());
    List<TopicPartition> all = new ArrayList<>();
    for (int partition = 0; partition < partitions; partition++) {
      all.add(new TopicPartition(topic, partition));
    }
    long[] next = new long[partitions];
    try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties)) {
      consumer.assign(all);
      for (TopicPartition each : all) {
        consumer.seek(each, 0);
      }
      while (reading) {
        var records = consumer.poll(Duration.ofMillis(100));
        for (TopicPartition each : records.partitions()) {
          for (ConsumerRecord<byte[], byte[]> record : records.records(each)) {
            check(record, next);
          }
          tell('R', each.partition(), next[each.partition()], 0);
        }
      }
    }
  }

  private void check(ConsumerRecord<byte[], byte[]> record, long[] next) {
    int partition = record.partition();
    if (record.offset() != next[partition]) {
      fail(partition, "the Java consumer got offset " + record.offset() + " after " + (next[partition] - 1));
    } else if (!Arrays.equals(record.value(), value(partition, record.offset()))) {
      fail(partition, "the Java consumer got another value at offset " + record.offset());
    }
    next[partition] = record.offset() + 1;
  }
}
