import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.DescribeConfigsOptions;
import org.apache.kafka.clients.admin.GroupListing;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.GroupState;
import org.apache.kafka.common.TopicCollection;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.GroupNotEmptyException;
import org.apache.kafka.common.errors.InvalidConfigurationException;
import org.apache.kafka.common.errors.InvalidPartitionsException;
import org.apache.kafka.common.errors.InvalidReplicationFactorException;
import org.apache.kafka.common.errors.InvalidTopicException;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicIdException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;

/** What the Java AdminClient must be able to do. Every method: (bootstrap, args) -> facts worth printing. */
final class AdminScenarios {
    private AdminScenarios() { }

    private static Admin admin(String bootstrap) {
        return Admin.create(Map.of("bootstrap.servers", bootstrap));
    }

    private static ConfigResource topicResource(String name) {
        return new ConfigResource(ConfigResource.Type.TOPIC, name);
    }

    /** Create, describe (by name and id), list, delete; ids differ after creating the same name again. */
    static Map<String, Object> adminTopics(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        try (Admin admin = admin(bootstrap)) {
            var created = admin.createTopics(List.of(
                new NewTopic(topic, 5, (short) 1).configs(Map.of("retention.ms", "123456")),
                new NewTopic(topic + "-default", Optional.empty(), Optional.empty())));
            Check.get(created.all());
            Check.equal(5, Check.get(created.numPartitions(topic)), "partitions in the answer");
            Check.equal("123456", Check.get(created.config(topic)).get("retention.ms").value(), "config in the answer");
            Uuid id = Check.get(created.topicId(topic));
            Check.that(!id.equals(Uuid.ZERO_UUID), "no topic id");
            TopicDescription byName = Check.get(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic);
            TopicDescription byId = Check.get(
                admin.describeTopics(TopicCollection.ofTopicIds(List.of(id))).allTopicIds()).get(id);
            Check.equal(topic, byId.name(), "name found by id");
            Check.equal(byName.partitions().size(), byId.partitions().size(), "partitions by name and by id");
            Check.equal(id, byName.topicId(), "topic id");
            Check.equal(5, byName.partitions().size(), "partitions");
            for (int i = 0; i < 5; i++) {
                var partition = byName.partitions().get(i);
                Check.equal(i, partition.partition(), "partition number");
                Check.equal(1, partition.replicas().size(), "replicas");
                Check.equal(partition.leader(), partition.replicas().get(0), "leader");
                Check.equal(partition.replicas(), partition.isr(), "isr");
            }
            Set<String> names = Check.get(admin.listTopics().names());
            Check.that(names.containsAll(Set.of(topic, topic + "-default")), "listing: " + names);
            deleteAndCreateAgain(admin, topic, id);
        }
        return Map.of();
    }

    private static void deleteAndCreateAgain(Admin admin, String topic, Uuid id) throws Exception {
        Check.get(admin.deleteTopics(TopicCollection.ofTopicIds(List.of(id))).all());
        Check.get(admin.deleteTopics(List.of(topic + "-default")).all());
        Check.soon("the topic to be gone", java.time.Duration.ofSeconds(120), () -> {
            try {
                return !Check.get(admin.listTopics().names()).contains(topic);
            } catch (Exception failed) {
                throw new AssertionError(failed);
            }
        });
        Check.fails(UnknownTopicOrPartitionException.class, admin.describeTopics(List.of(topic)).allTopicNames(), "describe a deleted topic");
        Check.fails(UnknownTopicIdException.class,
            admin.describeTopics(TopicCollection.ofTopicIds(List.of(id))).allTopicIds(), "describe a deleted id");
        var again = admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1)));
        Check.that(!id.equals(Check.get(again.topicId(topic))), "the same id twice");
    }

    /** Kafka's error for every wrong wish. */
    static Map<String, Object> adminErrors(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        TopicPartition nowhere = new TopicPartition(topic + "-missing", 0);
        try (Admin admin = admin(bootstrap)) {
            Check.get(admin.createTopics(List.of(new NewTopic(topic, 2, (short) 1))).all());
            failsToCreate(admin, TopicExistsException.class, new NewTopic(topic, 1, (short) 1));
            failsToCreate(admin, InvalidTopicException.class, new NewTopic("no/slash", 1, (short) 1));
            failsToCreate(admin, InvalidTopicException.class, new NewTopic("..", 1, (short) 1));
            failsToCreate(admin, InvalidTopicException.class, new NewTopic("x".repeat(250), 1, (short) 1));
            failsToCreate(admin, InvalidPartitionsException.class, new NewTopic(topic + "-a", 0, (short) 1));
            failsToCreate(admin, InvalidReplicationFactorException.class, new NewTopic(topic + "-b", 1, (short) 5));
            failsToCreate(admin, InvalidReplicationFactorException.class, new NewTopic(topic + "-b", 1, (short) 0));
            failsToCreate(admin, InvalidConfigurationException.class,
                new NewTopic(topic + "-c", 1, (short) 1).configs(Map.of("no.such.config", "1")));
            failsToCreate(admin, InvalidConfigurationException.class,
                new NewTopic(topic + "-c", 1, (short) 1).configs(Map.of("retention.ms", "soon")));
            Check.get(admin.createTopics(List.of(new NewTopic(topic + "-dry", 1, (short) 1)),
                new CreateTopicsOptions().validateOnly(true)).all());
            Check.that(!Check.get(admin.listTopics().names()).contains(topic + "-dry"), "validateOnly created a topic");
            Check.fails(UnknownTopicOrPartitionException.class, admin.deleteTopics(List.of(nowhere.topic())).all(), "delete nothing");
            Check.fails(InvalidPartitionsException.class, admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(1))).all(), "shrink");
            Check.fails(InvalidPartitionsException.class, admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(2))).all(), "same size");
            Check.fails(UnknownTopicOrPartitionException.class,
                admin.createPartitions(Map.of(nowhere.topic(), NewPartitions.increaseTo(3))).all(), "widen nothing");
            Check.fails(UnknownTopicOrPartitionException.class,
                admin.describeConfigs(List.of(topicResource(nowhere.topic()))).all(), "configs of nothing");
            Check.fails(OffsetOutOfRangeException.class, admin.deleteRecords(
                Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(5))).all(), "delete past the end");
            Check.fails(GroupIdNotFoundException.class, admin.deleteConsumerGroups(List.of(topic + "-g")).all(), "delete no group");
        }
        return Map.of();
    }

    private static void failsToCreate(Admin admin, Class<? extends Throwable> error, NewTopic topic) throws Exception {
        Check.fails(error, admin.createTopics(List.of(topic)).all(), "create " + topic);
    }

    /** All topic configs with Kafka's defaults and types, sources and synonyms; set, append, subtract, delete. */
    static Map<String, Object> adminConfigs(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        ConfigResource resource = topicResource(topic);
        Map<String, String> shown = new TreeMap<>();
        try (Admin admin = admin(bootstrap)) {
            Check.get(admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all());
            for (ConfigEntry entry : describe(admin, resource).entries()) {
                shown.put(entry.name(), entry.type() + " " + entry.value());
                boolean fixed = entry.isReadOnly() && !entry.name().startsWith("kproto.");
                Check.that(!entry.isSensitive() && !fixed, entry.name() + " sensitive or read-only");
                boolean inherited = entry.synonyms().stream().allMatch(s -> s.source() != ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG);
                Check.that(inherited, entry.name() + " claims to be set");
            }
            alter(admin, resource, "retention.ms", "86400000", AlterConfigOp.OpType.SET);
            alter(admin, resource, "cleanup.policy", "compact", AlterConfigOp.OpType.APPEND);
            ConfigEntry retention = describe(admin, resource).get("retention.ms");
            Check.equal("86400000", retention.value(), "retention.ms");
            Check.equal(ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG, retention.source(), "its source");
            Check.that(!retention.isDefault(), "it is called a default");
            Check.equal("86400000", retention.synonyms().get(0).value(), "first synonym");
            Check.equal("delete,compact", describe(admin, resource).get("cleanup.policy").value(), "after append");
            alter(admin, resource, "cleanup.policy", "compact", AlterConfigOp.OpType.SUBTRACT);
            Check.equal("delete", describe(admin, resource).get("cleanup.policy").value(), "after subtract");
            alter(admin, resource, "retention.ms", "", AlterConfigOp.OpType.DELETE);
            Check.equal("604800000", describe(admin, resource).get("retention.ms").value(), "after delete");
            Check.fails(InvalidConfigurationException.class, admin.incrementalAlterConfigs(Map.of(resource, List.of(
                new AlterConfigOp(new ConfigEntry("segment.bytes", "-3"), AlterConfigOp.OpType.SET)))).all(), "a bad value");
        }
        return Map.of("defaults", shown);
    }

    private static Config describe(Admin admin, ConfigResource resource) throws Exception {
        DescribeConfigsOptions everything = new DescribeConfigsOptions().includeSynonyms(true).includeDocumentation(true);
        return Check.get(admin.describeConfigs(List.of(resource), everything).all()).get(resource);
    }

    private static void alter(Admin admin, ConfigResource resource, String name, String value, AlterConfigOp.OpType how) throws Exception {
        Check.get(admin.incrementalAlterConfigs(
            Map.of(resource, List.of(new AlterConfigOp(new ConfigEntry(name, value), how)))).all());
    }

    /** The cluster, its broker's configs, log directories, features, and the empty list of reassignments. */
    static Map<String, Object> adminCluster(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        try (Admin admin = admin(bootstrap)) {
            Check.get(admin.createTopics(List.of(new NewTopic(topic, 2, (short) 1))).all());
            produce(bootstrap, topic, 2, 100, 1000);
            var cluster = admin.describeCluster();
            var nodes = Check.get(cluster.nodes());
            Check.equal(1, nodes.size(), "nodes");
            var node = nodes.iterator().next();
            Check.equal(node.id(), Check.get(cluster.controller()).id(), "controller");
            Check.equal(bootstrap, node.host() + ":" + node.port(), "advertised address");
            Check.that(!Check.get(cluster.clusterId()).isEmpty(), "cluster id");
            ConfigResource broker = new ConfigResource(ConfigResource.Type.BROKER, node.idString());
            Config config = describe(admin, broker);
            for (var expected : Map.of("message.max.bytes", "1048588", "log.retention.hours", "168",
                    "num.partitions", "1", "auto.create.topics.enable", "true", "offsets.topic.num.partitions", "50").entrySet()) {
                Check.equal(expected.getValue(), config.get(expected.getKey()).value(), expected.getKey());
            }
            long size = 0;
            for (var directory : Check.get(admin.describeLogDirs(List.of(node.id())).allDescriptions()).get(node.id()).values()) {
                Check.equal(null, directory.error(), "log dir error");
                for (var replica : directory.replicaInfos().entrySet()) {
                    size += replica.getKey().topic().equals(topic) ? replica.getValue().size() : 0;
                }
            }
            Check.that(size > 200_000 && size < 230_000, "size of 200 KB in the log dirs: " + size);
            Check.equal(Map.of(), Check.get(admin.listPartitionReassignments().reassignments()), "reassignments");
            return Map.of("node", node.id(), "size", size);
        }
    }

    private static void produce(String bootstrap, String topic, int width, int each, int size) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(Sample.producer(bootstrap, "batch.size", "5000"))) {
            for (int i = 0; i < each * width; i++) {
                producer.send(new ProducerRecord<>(topic, i % width, Sample.BASE_TIME + i / width, null, new byte[size]));
            }
        }
    }

    /** Wider topics, deleted records, and every kind of offset. */
    static Map<String, Object> adminOffsets(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        TopicPartition zero = new TopicPartition(topic, 0);
        try (Admin admin = admin(bootstrap)) {
            Check.get(admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all());
            Check.get(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(4))).all());
            Check.soon("4 partitions", java.time.Duration.ofSeconds(120), () -> width(admin, topic) == 4);
            produce(bootstrap, topic, 4, 250, 100);
            Check.equal(250L, offset(admin, zero, OffsetSpec.latest()), "latest");
            Check.equal(0L, offset(admin, zero, OffsetSpec.earliest()), "earliest");
            Check.equal(249L, offset(admin, zero, OffsetSpec.maxTimestamp()), "max timestamp");
            Check.equal(77L, offset(admin, zero, OffsetSpec.forTimestamp(Sample.BASE_TIME + 77)), "by time");
            Check.equal(-1L, offset(admin, zero, OffsetSpec.forTimestamp(Sample.BASE_TIME + 1_000_000)), "by time after the end");
            Check.equal(0L, offset(admin, zero, OffsetSpec.earliestLocal()), "earliest local");
            var deleted = Check.get(admin.deleteRecords(Map.of(zero, RecordsToDelete.beforeOffset(100))).lowWatermarks().get(zero));
            Check.equal(100L, deleted.lowWatermark(), "low watermark");
            Check.equal(100L, offset(admin, zero, OffsetSpec.earliest()), "earliest after deletion");
            Check.equal(100L, offset(admin, zero, OffsetSpec.forTimestamp(Sample.BASE_TIME + 7)), "by time before the start");
            var rest = Sample.readAll(bootstrap, List.of(zero)).get(zero);
            Check.equal(150, rest.size(), "records left");
            Check.equal(100L, rest.get(0).offset(), "first record left");
            Check.get(admin.deleteRecords(Map.of(zero, RecordsToDelete.beforeOffset(-1))).all());
            Check.equal(250L, offset(admin, zero, OffsetSpec.earliest()), "earliest after deleting all");
        }
        return Map.of();
    }

    private static int width(Admin admin, String topic) {
        try {
            return Check.get(admin.describeTopics(List.of(topic)).allTopicNames()).get(topic).partitions().size();
        } catch (Exception failed) {
            throw new AssertionError(failed);
        }
    }

    private static long offset(Admin admin, TopicPartition partition, OffsetSpec spec) throws Exception {
        return Check.get(admin.listOffsets(Map.of(partition, spec)).partitionResult(partition)).offset();
    }

    /** Groups listed, described with a live member, their offsets read, altered, deleted; the group deleted. */
    static Map<String, Object> adminGroups(String bootstrap, JsonNode args) throws Exception {
        String topic = args.get("topic").asText();
        String group = args.get("group").asText();
        TopicPartition zero = new TopicPartition(topic, 0);
        TopicPartition one = new TopicPartition(topic, 1);
        try (Admin admin = admin(bootstrap)) {
            Check.get(admin.createTopics(List.of(new NewTopic(topic, 2, (short) 1))).all());
            produce(bootstrap, topic, 2, 50, 10);
            try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                    Sample.consumer(bootstrap, "group.id", group, "client.id", "watched", "group.instance.id", "still"))) {
                consumer.subscribe(List.of(topic));
                Check.soon("an assignment", java.time.Duration.ofSeconds(120), () -> {
                    consumer.poll(java.time.Duration.ofMillis(100));
                    return consumer.assignment().size() == 2;
                });
                consumer.commitSync(Map.of(zero, new OffsetAndMetadata(11), one, new OffsetAndMetadata(22, "note")));
                describeLive(admin, group, Set.of(zero, one));
                Check.fails(GroupNotEmptyException.class, admin.deleteConsumerGroups(List.of(group)).all(), "delete a live group");
            }
            Check.get(admin.removeMembersFromConsumerGroup(group,
                new org.apache.kafka.clients.admin.RemoveMembersFromConsumerGroupOptions()).all());
            Check.equal(GroupState.EMPTY, Check.get(admin.describeConsumerGroups(List.of(group)).all()).get(group).groupState(), "state");
            Map<TopicPartition, Long> expected = new HashMap<>(Map.of(zero, 11L, one, 22L));
            Check.equal(expected, offsets(admin, group), "offsets");
            Check.get(admin.alterConsumerGroupOffsets(group, Map.of(zero, new OffsetAndMetadata(5))).all());
            expected.put(zero, 5L);
            Check.equal(expected, offsets(admin, group), "altered offsets");
            Check.get(admin.deleteConsumerGroupOffsets(group, Set.of(one)).all());
            expected.remove(one);
            Check.equal(expected, offsets(admin, group), "after deleting one");
            List<String> ids = new ArrayList<>();
            for (GroupListing listing : Check.get(admin.listGroups().all())) {
                ids.add(listing.groupId());
            }
            Check.that(ids.contains(group), "listing: " + ids);
            Check.get(admin.deleteConsumerGroups(List.of(group)).all());
            Check.fails(GroupIdNotFoundException.class, admin.describeConsumerGroups(List.of(group)).all(), "describe a deleted group");
        }
        return Map.of();
    }

    private static void describeLive(Admin admin, String group, Set<TopicPartition> partitions) throws Exception {
        var described = Check.get(admin.describeConsumerGroups(List.of(group)).all()).get(group);
        Check.equal(GroupState.STABLE, described.groupState(), "state");
        Check.equal(1, described.members().size(), "members");
        var member = described.members().iterator().next();
        Check.equal("watched", member.clientId(), "client id");
        Check.equal(Optional.of("still"), member.groupInstanceId(), "instance id");
        Check.equal(partitions, member.assignment().topicPartitions(), "assignment");
        Check.equal("range", described.partitionAssignor(), "assignor");
        Check.that(member.host().contains("127.0.0.1"), "host " + member.host());
    }

    private static Map<TopicPartition, Long> offsets(Admin admin, String group) throws Exception {
        Map<TopicPartition, Long> found = new HashMap<>();
        Check.get(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata()).forEach((p, o) -> found.put(p, o.offset()));
        return found;
    }
}
