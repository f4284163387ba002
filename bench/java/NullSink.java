import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.ApiVersionsResponseData;
import org.apache.kafka.common.message.FetchResponseData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.ListOffsetsResponseData;
import org.apache.kafka.common.message.MetadataResponseData;
import org.apache.kafka.common.message.ProduceResponseData;
import org.apache.kafka.common.network.ClientInformation;
import org.apache.kafka.common.network.ListenerName;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.ApiVersionsResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.InitProducerIdResponse;
import org.apache.kafka.common.requests.ListOffsetsRequest;
import org.apache.kafka.common.requests.ListOffsetsResponse;
import org.apache.kafka.common.requests.MetadataRequest;
import org.apache.kafka.common.requests.MetadataResponse;
import org.apache.kafka.common.requests.ProduceRequest;
import org.apache.kafka.common.requests.ProduceResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;

/**
 * A broker that does nothing: it acknowledges what is produced without looking at it, and answers every fetch at once
 * with the same batches under new offsets. What a client reaches against it is the client's own limit.
 *
 * <p>Arguments: partitions of every topic, bytes of a value and of a batch that are fetched. It prints its port and
 * serves until its standard input ends. Requests and answers are read and written by Apache Kafka's own classes; the
 * records are neither parsed nor copied out of the request.
 */
public final class NullSink {
  /** Of an answer to a fetch, or a batch of each partition where that is more. */
  static final int FETCHED_BYTES = 1 << 20;
  static final long FAR_END = 1L << 60;

  private final int partitions;
  private final int port;
  private final ServerSocketChannel listening;
  private final Map<String, Uuid> topics = new ConcurrentHashMap<>();
  private final AtomicLong producers = new AtomicLong();
  private final AtomicLong offsets = new AtomicLong();
  private final byte[] batches;
  private final int batchBytes;
  private final int batchRecords;

  private NullSink(int partitions, int valueBytes, int wantedBatchBytes) throws IOException {
    this.partitions = partitions;
    listening = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    port = ((InetSocketAddress) listening.getLocalAddress()).getPort();
    byte[] value = new byte[valueBytes];
    new Random(1).nextBytes(value);
    MemoryRecordsBuilder builder = MemoryRecords.builder(
        ByteBuffer.allocate(Math.max(wantedBatchBytes, valueBytes) + 1024), Compression.NONE, TimestampType.CREATE_TIME, 0);
    int count = 0;
    long now = System.currentTimeMillis();
    do {
      builder.append(now, null, value);
      count++;
    } while (builder.estimatedSizeInBytes() + valueBytes < wantedBatchBytes);
    ByteBuffer one = builder.build().buffer();
    batchBytes = one.remaining();
    batchRecords = count;
    int copies = Math.max(1, FETCHED_BYTES / batchBytes);
    batches = new byte[copies * batchBytes];
    for (int i = 0; i < copies; i++) {
      one.duplicate().get(batches, i * batchBytes, batchBytes);
    }
  }

  public static void main(String[] arguments) throws Exception {
    int[] given = {Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2])};
    NullSink sink = new NullSink(given[0], given[1], given[2]);
    System.out.println(sink.port);
    System.out.flush();
    Thread accepting = new Thread(sink::accept, "accept");
    accepting.setDaemon(true);
    accepting.start();
    while (System.in.read() >= 0) {
      // Only its end matters.
    }
  }

  private void accept() {
    while (true) {
      try {
        SocketChannel channel = listening.accept();
        Thread serving = new Thread(() -> serve(channel), "serve");
        serving.setDaemon(true);
        serving.start();
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(SocketChannel channel) {
    try (channel) {
      channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
      ByteBuffer size = ByteBuffer.allocate(4);
      ByteBuffer buffer = ByteBuffer.allocate(1 << 20);
      while (true) {
        read(channel, size.clear());
        int bytes = size.flip().getInt();
        if (bytes > buffer.capacity()) {
          buffer = ByteBuffer.allocate(bytes);
        }
        read(channel, buffer.clear().limit(bytes));
        answer(channel, buffer.flip());
      }
    } catch (EOFException gone) {
      // The client has closed its connection.
    } catch (IOException | RuntimeException failure) {
      System.err.println(failure);
    }
  }

  private static void read(SocketChannel channel, ByteBuffer into) throws IOException {
    while (into.hasRemaining()) {
      if (channel.read(into) < 0) {
        throw new EOFException();
      }
    }
  }

  private void answer(SocketChannel channel, ByteBuffer request) throws IOException {
    RequestHeader header = RequestHeader.parse(request);
    RequestContext context = new RequestContext(
        header, "0", InetAddress.getLoopbackAddress(), Optional.empty(), KafkaPrincipal.ANONYMOUS,
        new ListenerName("PLAINTEXT"), SecurityProtocol.PLAINTEXT, ClientInformation.EMPTY, false, Optional.empty());
    AbstractRequest body = context.parseRequest(request).request;
    AbstractResponse response = respond(body);
    if (response == null) {
      return;
    }
    ByteBuffer written = context.buildResponseEnvelopePayload(response);
    ByteBuffer length = ByteBuffer.allocate(4).putInt(written.remaining()).flip();
    ByteBuffer[] both = {length, written};
    while (written.hasRemaining()) {
      channel.write(both);
    }
  }

  /** None for a produce request that wants no answer. */
  private AbstractResponse respond(AbstractRequest request) {
    if (request instanceof ProduceRequest produce) {
      return produce.acks() == 0 ? null : acknowledge(produce);
    }
    if (request instanceof FetchRequest fetch) {
      return fetched(fetch);
    }
    if (request instanceof ListOffsetsRequest listing) {
      return starts(listing);
    }
    if (request instanceof MetadataRequest metadata) {
      return describe(metadata);
    }
    return switch (request.apiKey()) {
      case API_VERSIONS -> versions();
      case INIT_PRODUCER_ID -> new InitProducerIdResponse(
          new InitProducerIdResponseData().setProducerId(producers.getAndIncrement()).setProducerEpoch((short) 0));
      default -> throw new IllegalArgumentException("not answered here: " + request.apiKey());
    };
  }

  private static AbstractResponse versions() {
    ApiVersionsResponseData data = new ApiVersionsResponseData();
    ApiKeys[] answered = {
      ApiKeys.PRODUCE, ApiKeys.FETCH, ApiKeys.LIST_OFFSETS, ApiKeys.METADATA, ApiKeys.API_VERSIONS,
      ApiKeys.INIT_PRODUCER_ID
    };
    for (ApiKeys key : answered) {
      data.apiKeys().add(new ApiVersionsResponseData.ApiVersion()
          .setApiKey(key.id).setMinVersion(key.oldestVersion()).setMaxVersion(key.latestVersion()));
    }
    return new ApiVersionsResponse(data);
  }

  private AbstractResponse describe(MetadataRequest request) {
    MetadataResponseData data = new MetadataResponseData().setClusterId("null-sink").setControllerId(0);
    data.brokers().add(new MetadataResponseData.MetadataResponseBroker().setNodeId(0).setHost("127.0.0.1").setPort(port));
    if (request.topics() != null) {
      request.topics().forEach(name -> data.topics().add(topic(name)));
    }
    return new MetadataResponse(data, request.version());
  }

  private MetadataResponseData.MetadataResponseTopic topic(String name) {
    var topic = new MetadataResponseData.MetadataResponseTopic()
        .setName(name).setTopicId(topics.computeIfAbsent(name, unknown -> Uuid.randomUuid()));
    for (int i = 0; i < partitions; i++) {
      topic.partitions().add(new MetadataResponseData.MetadataResponsePartition()
          .setPartitionIndex(i).setLeaderId(0).setReplicaNodes(List.of(0)).setIsrNodes(List.of(0)));
    }
    return topic;
  }

  private AbstractResponse acknowledge(ProduceRequest request) {
    ProduceResponseData data = new ProduceResponseData();
    request.data().topicData().forEach(topic -> {
      var answered = new ProduceResponseData.TopicProduceResponse().setName(topic.name()).setTopicId(topic.topicId());
      topic.partitionData().forEach(partition -> answered.partitionResponses().add(
          new ProduceResponseData.PartitionProduceResponse()
              .setIndex(partition.index()).setBaseOffset(offsets.getAndIncrement())));
      data.responses().add(answered);
    });
    return new ProduceResponse(data);
  }

  private AbstractResponse starts(ListOffsetsRequest request) {
    ListOffsetsResponseData data = new ListOffsetsResponseData();
    request.data().topics().forEach(topic -> {
      var answered = new ListOffsetsResponseData.ListOffsetsTopicResponse().setName(topic.name());
      topic.partitions().forEach(partition -> answered.partitions().add(
          new ListOffsetsResponseData.ListOffsetsPartitionResponse()
              .setPartitionIndex(partition.partitionIndex()).setOffset(0).setTimestamp(-1)));
      data.topics().add(answered);
    });
    return new ListOffsetsResponse(data);
  }

  private AbstractResponse fetched(FetchRequest request) {
    FetchResponseData data = new FetchResponseData();
    int count = request.data().topics().stream().mapToInt(topic -> topic.partitions().size()).sum();
    int share = FETCHED_BYTES / Math.max(1, count);
    request.data().topics().forEach(topic -> {
      var answered = new FetchResponseData.FetchableTopicResponse().setTopic(topic.topic()).setTopicId(topic.topicId());
      topic.partitions().forEach(partition -> answered.partitions().add(new FetchResponseData.PartitionData()
          .setPartitionIndex(partition.partition()).setHighWatermark(FAR_END).setLastStableOffset(FAR_END)
          .setLogStartOffset(0).setRecords(from(partition.fetchOffset(), share))));
      data.responses().add(answered);
    });
    return FetchResponse.of(data);
  }

  /** Whole batches from that offset on; only the base offset, which no checksum covers, differs from those before. */
  private MemoryRecords from(long offset, int mostBytes) {
    int count = Math.max(1, Math.min(mostBytes, batches.length) / batchBytes);
    ByteBuffer copy = ByteBuffer.allocate(count * batchBytes).put(batches, 0, count * batchBytes).flip();
    for (int i = 0; i < count; i++) {
      copy.putLong(i * batchBytes, offset + (long) i * batchRecords);
    }
    return MemoryRecords.readableRecords(copy);
  }
}
