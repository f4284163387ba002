import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Client settings, records with everything a record can have, and comparing what went in with what came out. */
final class Sample {
    /** The first timestamp, ms: an hour ago. Records older than their topic keeps them could be deleted meanwhile. */
    static final long BASE_TIME = System.currentTimeMillis() - 3_600_000L;

    private Sample() { }

    static Properties producer(String bootstrap, String... extra) {
        Properties config = properties(bootstrap, extra);
        config.put("key.serializer", ByteArraySerializer.class.getName());
        config.put("value.serializer", ByteArraySerializer.class.getName());
        config.putIfAbsent("max.request.size", "1048588");
        return config;
    }

    static Properties consumer(String bootstrap, String... extra) {
        Properties config = properties(bootstrap, extra);
        config.put("key.deserializer", ByteArrayDeserializer.class.getName());
        config.put("value.deserializer", ByteArrayDeserializer.class.getName());
        config.putIfAbsent("auto.offset.reset", "earliest");
        config.putIfAbsent("enable.auto.commit", "false");
        return config;
    }

    private static Properties properties(String bootstrap, String[] extra) {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        for (int i = 0; i < extra.length; i += 2) {
            config.put(extra[i], extra[i + 1]);
        }
        return config;
    }

    static byte[] bytes(String text) {
        return text == null ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    static String text(byte[] data) {
        return data == null ? null : new String(data, StandardCharsets.UTF_8);
    }

    /** Record `i` of a run: null keys and values, empty ones, headers (repeated names, null values), varying sizes. */
    static ProducerRecord<byte[], byte[]> record(String topic, int partition, int i, Random random) {
        byte[] key = i % 5 == 0 ? null : bytes("key-" + i % 97);
        byte[] value = i % 7 == 3 ? null : new byte[i % 11 == 0 ? 0 : random.nextInt(600)];
        if (value != null) {
            random.nextBytes(value);
        }
        List<Header> headers = new ArrayList<>();
        headers.add(new RecordHeader("number", bytes(Integer.toString(i))));
        if (i % 3 == 0) {
            headers.add(new RecordHeader("twice", bytes("a")));
            headers.add(new RecordHeader("twice", null));
            headers.add(new RecordHeader("\u00fcnicode \u2603", new byte[0]));
        }
        return new ProducerRecord<>(topic, partition, BASE_TIME + i, key, value, headers);
    }

    static void same(ProducerRecord<byte[], byte[]> sent, ConsumerRecord<byte[], byte[]> got, String where) {
        Check.that(Arrays.equals(sent.key(), got.key()), where + ": key differs");
        Check.that(Arrays.equals(sent.value(), got.value()), where + ": value differs");
        Check.equal(sent.timestamp(), got.timestamp(), where + ": timestamp");
        Header[] a = sent.headers().toArray();
        Header[] b = got.headers().toArray();
        Check.equal(a.length, b.length, where + ": number of headers");
        for (int i = 0; i < a.length; i++) {
            Check.equal(a[i].key(), b[i].key(), where + ": header name " + i);
            Check.that(Arrays.equals(a[i].value(), b[i].value()), where + ": header value " + i);
        }
    }

    /** Everything in the partitions from offset `from` to the end as it was when called, by partition. */
    static Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> readAll(
            String bootstrap, List<TopicPartition> partitions, String... extra) {
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> found = new HashMap<>();
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(consumer(bootstrap, extra))) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            partitions.forEach(p -> found.put(p, new ArrayList<>()));
            long end = System.nanoTime() + 180_000_000_000L;
            while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
                Check.that(System.nanoTime() < end, "180 s were not enough to read " + partitions);
                consumer.poll(java.time.Duration.ofMillis(200)).forEach(
                    r -> found.get(new TopicPartition(r.topic(), r.partition())).add(r));
            }
        }
        return found;
    }

    static List<TopicPartition> partitions(String topic, int count) {
        List<TopicPartition> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            all.add(new TopicPartition(topic, i));
        }
        return all;
    }

    static long offset(RecordMetadata metadata) {
        return metadata.hasOffset() ? metadata.offset() : -1;
    }
}
