package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// baseTime is an hour ago, in ms: records older than their topic keeps them could be deleted in the middle of a run.
var baseTime = time.Now().Add(-time.Hour).UnixMilli()

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

// sample is record i of a run: null and empty keys and values, repeated header names, null header values, noise.
func sample(topic string, partition int32, i int, noise *rand.Rand) *kgo.Record {
	record := &kgo.Record{Topic: topic, Partition: partition, Timestamp: time.UnixMilli(baseTime + int64(i))}
	if i%5 != 0 {
		record.Key = []byte(fmt.Sprintf("key-%d", i%97))
	}
	if i%7 != 3 {
		record.Value = make([]byte, noise.Intn(600))
		noise.Read(record.Value)
	}
	record.Headers = []kgo.RecordHeader{{Key: "number", Value: []byte(fmt.Sprint(i))}}
	if i%3 == 0 {
		record.Headers = append(record.Headers,
			kgo.RecordHeader{Key: "twice", Value: []byte("a")}, kgo.RecordHeader{Key: "twice"})
	}
	return record
}

func same(sent, got *kgo.Record, where string) {
	check(bytes.Equal(sent.Key, got.Key) && (sent.Key == nil) == (got.Key == nil), "%s: key", where)
	check(bytes.Equal(sent.Value, got.Value) && (sent.Value == nil) == (got.Value == nil), "%s: value", where)
	check(sent.Timestamp.UnixMilli() == got.Timestamp.UnixMilli(), "%s: timestamp", where)
	check(len(sent.Headers) == len(got.Headers), "%s: headers", where)
	for i, header := range sent.Headers {
		other := got.Headers[i]
		check(header.Key == other.Key && bytes.Equal(header.Value, other.Value), "%s: header %d", where, i)
	}
}

// producing gives the options for one codec and acks setting; only acks=all can be idempotent.
func producing(codec, acks string) []kgo.Opt {
	options := []kgo.Opt{kgo.ProducerBatchCompression(codecs[codec])}
	switch acks {
	case "0":
		options = append(options, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	case "1":
		options = append(options, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	}
	return options
}

// produceConsume runs every codec with every acks setting, each on partitions of its own.
func produceConsume(ctx context.Context, bootstrap string, given args) facts {
	count := given.number("count")
	partition := int32(0)
	for _, codec := range []string{"none", "gzip", "snappy", "lz4", "zstd"} {
		for _, acks := range []string{"0", "1", "all"} {
			roundTrip(ctx, bootstrap, given["topic"], partition, count, codec, acks)
			partition++
		}
	}
	return facts{"rounds": partition}
}

func roundTrip(ctx context.Context, bootstrap, topic string, partition int32, count int, codec, acks string) {
	writer := client(bootstrap, producing(codec, acks)...)
	defer writer.Close()
	noise := rand.New(rand.NewSource(3))
	var sent []*kgo.Record
	var failure error
	for i := 0; i < count; i++ {
		record := sample(topic, partition, i, noise)
		sent = append(sent, record)
		writer.Produce(ctx, record, func(_ *kgo.Record, err error) {
			if err != nil {
				failure = err
			}
		})
	}
	must(writer.Flush(ctx))
	must(failure)
	for i, got := range readAll(ctx, bootstrap, topic, partition, count) {
		same(sent[i], got, fmt.Sprintf("%s %s record %d", codec, acks, i))
		check(acks == "0" || sent[i].Offset == int64(i), "%s %s: offset %d acknowledged", codec, acks, sent[i].Offset)
	}
}

// large sends messages of 900 KB of noise.
func large(ctx context.Context, bootstrap string, given args) facts {
	writer := client(bootstrap, kgo.ProducerBatchMaxBytes(1_048_588), kgo.ProducerBatchCompression(kgo.NoCompression()))
	defer writer.Close()
	noise := rand.New(rand.NewSource(4))
	var sent []*kgo.Record
	for i := 0; i < 8; i++ {
		value := make([]byte, 900_000)
		noise.Read(value)
		record := &kgo.Record{Topic: given["topic"], Value: value, Timestamp: time.UnixMilli(baseTime)}
		sent = append(sent, record)
		must(writer.ProduceSync(ctx, record).FirstErr())
		check(record.Offset == int64(i), "offset %d for message %d", record.Offset, i)
	}
	for i, got := range readAll(ctx, bootstrap, given["topic"], 0, 8) {
		same(sent[i], got, fmt.Sprintf("message %d", i))
	}
	return facts{"messages": 8}
}
