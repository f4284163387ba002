import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;

/** What the Java producer and consumer must be able to do. Every method: (bootstrap, args) -> facts worth printing. */
final class Scenarios {
    private static final Duration POLL = Duration.ofMillis(100);

    private Scenarios() { }

    /** One codec and acks setting: what was sent comes back whole, in order, at the offsets that were acknowledged. */
    static Map<String, Object> produceConsume(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        String acks = args.get("acks").asText();
        int count = args.get("count").asInt();
        int width = args.get("partitions").asInt();
        String idempotent = Boolean.toString(acks.equals("all"));
        List<List<ProducerRecord<byte[], byte[]>>> sent = new ArrayList<>();
        for (int i = 0; i < width; i++) {
            sent.add(new ArrayList<>());
        }
        Random random = new Random(7);
        List<Future<RecordMetadata>> acked = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(Sample.producer(bootstrap, "acks", acks,
                "enable.idempotence", idempotent, "compression.type", args.get("codec").asText(), "linger.ms", "5"))) {
            for (int i = 0; i < count; i++) {
                ProducerRecord<byte[], byte[]> record = Sample.record(topic, i % width, i, random);
                acked.add(producer.send(record));
                sent.get(i % width).add(record);
            }
        }
        for (int i = 0; i < count; i++) {
            RecordMetadata metadata = Check.get(acked.get(i));
            Check.equal(acks.equals("0") ? -1L : (long) (i / width), Sample.offset(metadata), "offset of record " + i);
        }
        var partitions = Sample.partitions(topic, width);
        if (acks.equals("0")) {
            awaitEnds(bootstrap, partitions, count / width);
        }
        compare(sent, Sample.readAll(bootstrap, partitions), partitions);
        return Map.of("records", count);
    }

    private static void awaitEnds(String bootstrap, List<TopicPartition> partitions, long end) throws Exception {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(Sample.consumer(bootstrap))) {
            Check.soon("acks=0 records to arrive", Duration.ofSeconds(120),
                () -> consumer.endOffsets(partitions).values().stream().allMatch(o -> o >= end));
        }
    }

    private static void compare(List<List<ProducerRecord<byte[], byte[]>>> sent,
            Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> found, List<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            List<ProducerRecord<byte[], byte[]>> in = sent.get(partition.partition());
            List<ConsumerRecord<byte[], byte[]>> out = found.get(partition);
            Check.equal(in.size(), out.size(), "records in " + partition);
            for (int i = 0; i < in.size(); i++) {
                Check.equal((long) i, out.get(i).offset(), "offset in " + partition);
                Sample.same(in.get(i), out.get(i), partition + "@" + i);
            }
        }
    }

    /** Messages of 900 KB of noise, alone in their batches. */
    static Map<String, Object> largeMessages(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        List<byte[]> sent = new ArrayList<>();
        Random random = new Random(11);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Sample.producer(bootstrap, "compression.type", args.get("codec").asText(), "acks", "all"))) {
            for (int i = 0; i < 8; i++) {
                byte[] value = new byte[900_000];
                random.nextBytes(value);
                sent.add(value);
                Check.equal((long) i, Check.get(producer.send(new ProducerRecord<>(topic, 0, null, value))).offset(), "offset");
            }
        }
        var partitions = Sample.partitions(topic, 1);
        var found = Sample.readAll(bootstrap, partitions, "max.partition.fetch.bytes", "1000").get(partitions.get(0));
        Check.equal(sent.size(), found.size(), "messages");
        for (int i = 0; i < sent.size(); i++) {
            Check.that(Arrays.equals(sent.get(i), found.get(i).value()), "message " + i + " differs");
        }
        return Map.of("messages", sent.size());
    }

    /** offsetsForTimes is exact to the record, beginning and end offsets are right, seek works both ways. */
    static Map<String, Object> seekByTime(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        TopicPartition partition = new TopicPartition(topic, 0);
        fill(bootstrap, partition, 1000, "10");
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(Sample.consumer(bootstrap))) {
            consumer.assign(List.of(partition));
            for (long i : new long[] {0, 1, 499, 500, 999}) {
                OffsetAndTimestamp at = consumer.offsetsForTimes(Map.of(partition, Sample.BASE_TIME + i * 10)).get(partition);
                Check.equal(i, at.offset(), "offset for the time of record " + i);
                Check.equal(Sample.BASE_TIME + i * 10, at.timestamp(), "its timestamp");
                OffsetAndTimestamp between = consumer.offsetsForTimes(Map.of(partition, Sample.BASE_TIME + i * 10 - 5)).get(partition);
                Check.equal(i, between.offset(), "offset for a time before record " + i);
            }
            Check.equal(null, consumer.offsetsForTimes(Map.of(partition, Sample.BASE_TIME + 10_000)).get(partition), "after the end");
            Check.equal(0L, consumer.beginningOffsets(List.of(partition)).get(partition), "beginning");
            Check.equal(1000L, consumer.endOffsets(List.of(partition)).get(partition), "end");
            for (long target : new long[] {700, 3, 999}) {
                consumer.seek(partition, target);
                Check.equal(target, next(consumer).offset(), "first record after seek");
            }
            consumer.seekToEnd(List.of(partition));
            Check.equal(1000L, consumer.position(partition), "position at the end");
        }
        return Map.of("lookups", 10);
    }

    /** Record i has timestamp base + i * step and its number as value. */
    private static void fill(String bootstrap, TopicPartition partition, int count, String step) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Sample.producer(bootstrap, "batch.size", "2000", "linger.ms", "5"))) {
            List<Future<RecordMetadata>> acks = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                long time = Sample.BASE_TIME + i * Long.parseLong(step);
                acks.add(producer.send(new ProducerRecord<>(
                    partition.topic(), partition.partition(), time, Sample.bytes("k"), Sample.bytes("" + i))));
            }
            for (Future<RecordMetadata> ack : acks) {
                Check.get(ack);
            }
        }
    }

    private static ConsumerRecord<byte[], byte[]> next(KafkaConsumer<byte[], byte[]> consumer) {
        long end = System.nanoTime() + 120_000_000_000L;
        while (System.nanoTime() < end) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
                return record;
            }
        }
        throw new AssertionError("no record within 20 s");
    }

    /** A paused partition delivers nothing while the other goes on; resumed, it continues where it stood. */
    static Map<String, Object> pauseResume(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        List<TopicPartition> both = Sample.partitions(topic, 2);
        fill(bootstrap, both.get(0), 300, "1");
        fill(bootstrap, both.get(1), 300, "1");
        Map<Integer, List<Long>> seen = new HashMap<>(Map.of(0, new ArrayList<>(), 1, new ArrayList<>()));
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(Sample.consumer(bootstrap, "max.poll.records", "50"))) {
            consumer.assign(both);
            consumer.pause(List.of(both.get(0)));
            pollInto(consumer, seen, 1, 300);
            Check.equal(0, seen.get(0).size(), "records of the paused partition");
            consumer.resume(List.of(both.get(0)));
            pollInto(consumer, seen, 0, 100);
            consumer.pause(both);
            int before = seen.get(0).size();
            Check.that(consumer.poll(Duration.ofMillis(300)).isEmpty(), "all paused, yet records came");
            Check.equal(before, seen.get(0).size(), "records while all are paused");
            consumer.resume(both);
            pollInto(consumer, seen, 0, 300);
        }
        for (List<Long> offsets : seen.values()) {
            for (int i = 0; i < 300; i++) {
                Check.equal((long) i, offsets.get(i), "order");
            }
        }
        return Map.of("records", 600);
    }

    private static void pollInto(KafkaConsumer<byte[], byte[]> consumer, Map<Integer, List<Long>> seen, int partition, int until) {
        long end = System.nanoTime() + 120_000_000_000L;
        while (seen.get(partition).size() < until) {
            Check.that(System.nanoTime() < end, "partition " + partition + " stopped at " + seen.get(partition).size());
            consumer.poll(POLL).forEach(r -> seen.get(r.partition()).add(r.offset()));
        }
    }

    /** Synchronous and asynchronous commits with metadata; the next member starts exactly there. */
    static Map<String, Object> commitResume(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        String group = args.get("group").asText();
        TopicPartition partition = new TopicPartition(topic, 0);
        fill(bootstrap, partition, 500, "1");
        long position = 0;
        for (int turn = 0; turn < 4; turn++) {
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                    Sample.consumer(bootstrap, "group.id", group, "max.poll.records", "60"))) {
                consumer.subscribe(List.of(topic));
                ConsumerRecord<byte[], byte[]> first = next(consumer);
                Check.equal(position, first.offset(), "first record of turn " + turn);
                position = first.offset() + 100;
                consumer.commitSync(Map.of(partition, new OffsetAndMetadata(position, "turn " + turn)));
                OffsetAndMetadata read = consumer.committed(Set.of(partition)).get(partition);
                Check.equal(position, read.offset(), "committed offset");
                Check.equal("turn " + turn, read.metadata(), "committed metadata");
            }
        }
        return Map.of("position", position);
    }

    /** Members join, leave and vanish; every partition has one owner again and again, nothing is lost. */
    static Map<String, Object> groupRounds(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        int width = args.get("partitions").asInt();
        GroupRun run = new GroupRun(bootstrap, topic, args.get("group").asText(), args.get("assignor").asText());
        Set<String> all = new HashSet<>();
        Sample.partitions(topic, width).forEach(p -> all.add(p.toString()));
        try {
            run.join("a");
            run.settled(all, 1);
            run.produce(width, 200);
            run.joinForNow("b");
            run.join("c");
            run.settled(all, 3);
            run.produce(width, 200);
            run.leave("a");
            run.settled(all, 2);
            run.produce(width, 200);
            run.vanish("b");
            run.settled(all, 1);
            run.produce(width, 200);
            run.received(width, 800);
        } finally {
            run.stopAll();
        }
        return Map.of("deliveries", run.deliveries(), "rebalances", run.rebalances());
    }

    /** Transactions do not exist yet: the producer gets a clear error instead of waiting for its timeout. */
    static Map<String, Object> transactionsRefused(String bootstrap, JsonNode args) {
        long start = System.nanoTime();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Sample.producer(bootstrap, "transactional.id", "t", "max.block.ms", "120000"))) {
            producer.initTransactions();
        } catch (TimeoutException late) {
            throw new AssertionError("initTransactions ran into its timeout", late);
        } catch (KafkaException refused) {
            long took = (System.nanoTime() - start) / 1_000_000;
            Check.that(took < 60_000, "the refusal took " + took + " ms");
            return Map.of("error", refused.toString());
        }
        throw new AssertionError("initTransactions succeeded");
    }
}
