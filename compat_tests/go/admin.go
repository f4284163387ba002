package main

import (
	"context"
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// admin takes one topic and one group through their lives.
func admin(ctx context.Context, bootstrap string, given args) facts {
	topic, group := given["topic"], given["group"]
	connection := client(bootstrap)
	defer connection.Close()
	adm := kadm.NewClient(connection)
	made, err := adm.CreateTopic(ctx, 2, 1, map[string]*string{"retention.ms": kadm.StringPtr("4000000")}, topic)
	must(err)
	check(made.ID != kadm.TopicID{}, "no topic id")
	_, err = adm.CreateTopic(ctx, 2, 1, nil, topic)
	check(errors.Is(err, kerr.TopicAlreadyExists), "creating it twice: %v", err)
	waitFor(ctx, "two partitions", func() bool { return width(ctx, adm, topic) == 2 })
	_, err = adm.CreatePartitions(ctx, 2, topic)
	must(err)
	waitFor(ctx, "four partitions", func() bool { return width(ctx, adm, topic) == 4 })
	configs(ctx, adm, topic)
	fill(ctx, bootstrap, topic, 1, 0, 200)
	offsets(ctx, adm, topic)
	groups(ctx, bootstrap, adm, topic, group)
	_, err = adm.DeleteTopics(ctx, topic)
	must(err)
	waitFor(ctx, "the topic's end", func() bool { return width(ctx, adm, topic) == 0 })
	return facts{"topic": topic}
}

func width(ctx context.Context, adm *kadm.Client, topic string) int {
	listed, err := adm.ListTopics(ctx, topic)
	must(err)
	return len(listed[topic].Partitions)
}

func configs(ctx context.Context, adm *kadm.Client, topic string) {
	_, err := adm.AlterTopicConfigs(ctx, []kadm.AlterConfig{
		{Op: kadm.SetConfig, Name: "max.message.bytes", Value: kadm.StringPtr("2000000")}}, topic)
	must(err)
	described, err := adm.DescribeTopicConfigs(ctx, topic)
	must(err)
	found := map[string]string{}
	for _, config := range described[0].Configs {
		found[config.Key] = config.MaybeValue()
	}
	check(found["max.message.bytes"] == "2000000", "max.message.bytes %q", found["max.message.bytes"])
	check(found["retention.ms"] == "4000000", "retention.ms %q", found["retention.ms"])
	check(found["cleanup.policy"] == "delete", "cleanup.policy %q", found["cleanup.policy"])
}

func offsets(ctx context.Context, adm *kadm.Client, topic string) {
	at := func(listed kadm.ListedOffsets, err error) int64 {
		must(err)
		found, _ := listed.Lookup(topic, 1)
		must(found.Err)
		return found.Offset
	}
	check(at(adm.ListStartOffsets(ctx, topic)) == 0, "start")
	check(at(adm.ListEndOffsets(ctx, topic)) == 200, "end")
	check(at(adm.ListOffsetsAfterMilli(ctx, baseTime+775, topic)) == 78, "by time")
	var before kadm.Offsets
	before.Add(kadm.Offset{Topic: topic, Partition: 1, At: 40})
	deleted, err := adm.DeleteRecords(ctx, before)
	must(err)
	low, _ := deleted.Lookup(topic, 1)
	check(low.LowWatermark == 40, "low watermark %d", low.LowWatermark)
	check(at(adm.ListStartOffsets(ctx, topic)) == 40, "start after deleting records")
}

func groups(ctx context.Context, bootstrap string, adm *kadm.Client, topic, group string) {
	reader := client(bootstrap, kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	check(first(ctx, reader).Offset == 40, "the group starts at the log start")
	must(reader.CommitUncommittedOffsets(ctx))
	described, err := adm.DescribeGroups(ctx, group)
	must(err)
	check(described[group].State == "Stable", "state %s", described[group].State)
	check(len(described[group].Members) == 1, "members")
	reader.Close()
	waitFor(ctx, "an empty group", func() bool {
		time.Sleep(50 * time.Millisecond)
		now, err := adm.DescribeGroups(ctx, group)
		must(err)
		return now[group].State == "Empty"
	})
	fetched, err := adm.FetchOffsets(ctx, group)
	must(err)
	found, ok := fetched.Lookup(topic, 1)
	check(ok && found.At == 200, "committed offset %d", found.At)
	lags, err := adm.Lag(ctx, group)
	must(err)
	check(lags[group].Lag.Total() == 0, "lag %d", lags[group].Lag.Total())
	_, err = adm.DeleteGroups(ctx, group)
	must(err)
}
