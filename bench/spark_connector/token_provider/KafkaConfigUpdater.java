package org.apache.spark.kafka010;

import java.util.LinkedHashMap;
import java.util.Map;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

/** Collects the parameters of one Kafka client. Login settings pass through as the user wrote them. */
public final class KafkaConfigUpdater {
  private final Map<String, Object> parameters;

  public KafkaConfigUpdater(String ignoredModule, scala.collection.immutable.Map<String, Object> start) {
    parameters = new LinkedHashMap<>(CollectionConverters.asJava(start));
  }

  public KafkaConfigUpdater set(String name, Object value) {
    parameters.put(name, value);
    return this;
  }

  public KafkaConfigUpdater setIfUnset(String name, Object value) {
    if (!parameters.containsKey(name)) {
      parameters.put(name, value);
    }
    return this;
  }

  /** The real class would add a delegation token here; without tokens there is nothing to add. */
  public KafkaConfigUpdater setAuthenticationConfigIfNeeded() {
    return this;
  }

  public KafkaConfigUpdater setAuthenticationConfigIfNeeded(Option<KafkaTokenClusterConf> ignoredCluster) {
    return this;
  }

  public Map<String, Object> build() {
    return new LinkedHashMap<>(parameters);
  }
}
