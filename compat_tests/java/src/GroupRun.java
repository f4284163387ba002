import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RebalanceInProgressException;
import org.apache.kafka.common.errors.WakeupException;

/** Members of one group in threads of their own: they join, leave, vanish; nothing may be lost meanwhile. */
final class GroupRun {
    private final String bootstrap;
    private final String topic;
    private final String group;
    private final String assignor;
    private final Map<String, Member> members = new ConcurrentHashMap<>();
    private final List<String> received = new CopyOnWriteArrayList<>();
    private final AtomicInteger rebalances = new AtomicInteger();
    private int produced;

    GroupRun(String bootstrap, String topic, String group, String assignor) {
        this.bootstrap = bootstrap;
        this.topic = topic;
        this.group = group;
        this.assignor = assignor;
    }

    /** One consumer: commits after every poll, so that a planned hand-over gives nothing twice. */
    private final class Member extends Thread implements ConsumerRebalanceListener {
        final KafkaConsumer<byte[], byte[]> consumer;
        final Set<String> owned = ConcurrentHashMap.newKeySet();
        volatile boolean vanish;
        volatile Throwable failure;

        Member(String name, int sessionMs) {
            super("member-" + name);
            consumer = new KafkaConsumer<>(Sample.consumer(bootstrap, "group.id", group, "client.id", name,
                "partition.assignment.strategy", assignor, "session.timeout.ms", "" + sessionMs,
                "heartbeat.interval.ms", "300"));
        }

        @Override
        public void run() {
            try {
                consumer.subscribe(List.of(topic), this);
                while (true) {
                    for (var record : consumer.poll(Duration.ofMillis(100))) {
                        received.add(record.partition() + ":" + Sample.text(record.value()));
                    }
                    commit();
                }
            } catch (WakeupException asked) {
                consumer.commitSync();
                if (!vanish) {
                    consumer.close();
                }
            } catch (Throwable broken) {
                failure = broken;
            }
            owned.clear();
        }

        /** A cooperative rebalance lets members go on reading, but not commit: the next poll ends it. */
        private void commit() {
            try {
                consumer.commitSync();
            } catch (RebalanceInProgressException later) {
                consumer.poll(Duration.ZERO).forEach(r -> received.add(r.partition() + ":" + Sample.text(r.value())));
            }
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            rebalances.incrementAndGet();
            partitions.forEach(p -> owned.add(p.toString()));
        }

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            consumer.commitSync();
            partitions.forEach(p -> owned.remove(p.toString()));
        }

        @Override
        public void onPartitionsLost(Collection<TopicPartition> partitions) {
            partitions.forEach(p -> owned.remove(p.toString()));
        }
    }

    /** Of one who stays or says goodbye: the group keeps it when the machine stands still for a while. */
    void join(String name) {
        join(name, 60_000);
    }

    /** Of one who will vanish: the group is to find out soon. */
    void joinForNow(String name) {
        join(name, 6_000);
    }

    private void join(String name, int sessionMs) {
        Member member = new Member(name, sessionMs);
        members.put(name, member);
        member.start();
    }

    void leave(String name) throws InterruptedException {
        Member member = members.remove(name);
        member.consumer.wakeup();
        member.join(120_000);
        Check.that(!member.isAlive() && member.failure == null, name + " did not leave: " + member.failure);
    }

    /** The member goes without a goodbye, as a crashed one does: the group finds out by its session timeout. */
    void vanish(String name) throws Exception {
        Member member = members.remove(name);
        member.vanish = true;
        member.consumer.wakeup();
        member.join(120_000);
        Check.that(member.failure == null, name + ": " + member.failure);
        member.consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ofSeconds(10))
            .withGroupMembershipOperation(
                org.apache.kafka.clients.consumer.CloseOptions.GroupMembershipOperation.REMAIN_IN_GROUP));
    }

    /** All partitions owned, each once, by exactly this many members of which each has at least one. */
    void settled(Set<String> all, int expected) throws InterruptedException {
        Check.soon(expected + " members to share " + all.size() + " partitions: " + this, Duration.ofSeconds(120), () -> {
            Set<String> union = new HashSet<>();
            int sum = 0;
            for (Member member : members.values()) {
                Check.that(member.failure == null, member.getName() + ": " + member.failure);
                union.addAll(member.owned);
                sum += member.owned.size();
                if (member.owned.isEmpty()) {
                    return false;
                }
            }
            return members.size() == expected && sum == all.size() && union.equals(all);
        });
    }

    void produce(int width, int count) throws Exception {
        List<Future<RecordMetadata>> acks = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(Sample.producer(bootstrap))) {
            for (int i = 0; i < count; i++, produced++) {
                acks.add(producer.send(new ProducerRecord<>(topic, produced % width, null, Sample.bytes("" + produced))));
            }
        }
        for (Future<RecordMetadata> ack : acks) {
            Check.get(ack);
        }
        int expected = produced;
        Check.soon("all of " + expected + " records to be delivered", Duration.ofSeconds(120),
            () -> new HashSet<>(received).size() >= expected);
    }

    void received(int width, int total) {
        Set<String> expected = new HashSet<>();
        for (int i = 0; i < total; i++) {
            expected.add(i % width + ":" + i);
        }
        Check.equal(expected, new HashSet<>(received), "records delivered to the group");
    }

    int deliveries() {
        return received.size();
    }

    int rebalances() {
        return rebalances.get();
    }

    void stopAll() throws InterruptedException {
        for (String name : new ArrayList<>(members.keySet())) {
            leave(name);
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        members.forEach((name, member) -> text.append(name).append('=').append(member.owned).append(' '));
        return text.toString();
    }
}
