package org.apache.spark.kafka010;

/** Only a type in signatures: a cluster whose delegation tokens Spark manages. There are none. */
public final class KafkaTokenClusterConf {
  private KafkaTokenClusterConf() {}
}
