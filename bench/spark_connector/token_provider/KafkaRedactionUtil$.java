package org.apache.spark.kafka010;

import java.util.Locale;
import java.util.Set;
import scala.Tuple2;
import scala.collection.immutable.Seq;

/** Hides secrets where the connector logs client parameters. */
public final class KafkaRedactionUtil$ {
  public static final KafkaRedactionUtil$ MODULE$ = new KafkaRedactionUtil$();
  private static final String HIDDEN = "[hidden]";
  private static final Set<String> SECRET_WORDS = Set.of("password", "secret", "token", "jaas", "credential", "keystore.key");

  private KafkaRedactionUtil$() {}

  @SuppressWarnings("unchecked")
  public Seq<Tuple2<String, String>> redactParams(Seq<Tuple2<String, Object>> parameters) {
    return (Seq<Tuple2<String, String>>) (Seq<?>) parameters.map(pair -> new Tuple2<>(pair._1(), shown(pair)));
  }

  private static String shown(Tuple2<String, Object> pair) {
    String name = pair._1().toLowerCase(Locale.ROOT);
    return SECRET_WORDS.stream().anyMatch(name::contains) ? HIDDEN : String.valueOf(pair._2());
  }
}
