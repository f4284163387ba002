package org.apache.spark.kafka010;

import java.util.Map;
import org.apache.spark.SparkConf;
import scala.Option;

/** What the connector asks about delegation tokens: no cluster has any, so none is ever out of date. */
public final class KafkaTokenUtil$ {
  public static final KafkaTokenUtil$ MODULE$ = new KafkaTokenUtil$();

  private KafkaTokenUtil$() {}

  public Option<KafkaTokenClusterConf> findMatchingTokenClusterConfig(SparkConf conf, String bootstrapServers) {
    return Option.empty();
  }

  public boolean needTokenUpdate(Map<String, Object> parameters, Option<KafkaTokenClusterConf> cluster) {
    return false;
  }
}
