package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// fill writes count numbered records to a partition; record i has timestamp base + 10 i.
func fill(ctx context.Context, bootstrap, topic string, partition int32, from, count int) {
	writer := client(bootstrap)
	defer writer.Close()
	var records []*kgo.Record
	for i := from; i < from+count; i++ {
		records = append(records, &kgo.Record{Topic: topic, Partition: partition,
			Value: []byte(fmt.Sprint(i)), Timestamp: time.UnixMilli(baseTime + 10*int64(i))})
	}
	must(writer.ProduceSync(ctx, records...).FirstErr())
}

func first(ctx context.Context, from *kgo.Client) *kgo.Record {
	for {
		if found := poll(ctx, from); len(found) > 0 {
			return found[0]
		}
	}
}

// seek starts by time, in the middle and at the end.
func seek(ctx context.Context, bootstrap string, given args) facts {
	topic := given["topic"]
	fill(ctx, bootstrap, topic, 0, 0, 1000)
	starts := map[int64]kgo.Offset{
		0:   kgo.NewOffset().AtStart(),
		321: kgo.NewOffset().AfterMilli(baseTime + 3210),
		700: kgo.NewOffset().AfterMilli(baseTime + 6995),
		999: kgo.NewOffset().At(999),
		990: kgo.NewOffset().AtEnd().Relative(-10),
	}
	for want, start := range starts {
		reader := client(bootstrap, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: start}}))
		found := first(ctx, reader).Offset
		check(found == want, "started at %d instead of %d", found, want)
		reader.Close()
	}
	return facts{"starts": len(starts)}
}

// resume has one member after the other read on where the one before committed.
func resume(ctx context.Context, bootstrap string, given args) facts {
	topic, turns := given["topic"], 3
	fill(ctx, bootstrap, topic, 0, 0, 100)
	for turn := 0; turn < turns; turn++ {
		reader := client(bootstrap, kgo.ConsumerGroup(given["group"]), kgo.ConsumeTopics(topic),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit())
		record := first(ctx, reader)
		want := int64(turn * 20)
		check(record.Offset == want, "turn %d begins at %d instead of %d", turn, record.Offset, want)
		record.Offset = want + 19 // what is committed is the offset behind the record
		must(reader.CommitRecords(ctx, record))
		reader.Close()
	}
	return facts{"turns": turns}
}

// pause holds one of two partitions back, then lets it go.
func pause(ctx context.Context, bootstrap string, given args) facts {
	topic := given["topic"]
	fill(ctx, bootstrap, topic, 0, 0, 300)
	fill(ctx, bootstrap, topic, 1, 0, 300)
	start := kgo.NewOffset().AtStart()
	reader := client(bootstrap, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: start, 1: start}}))
	defer reader.Close()
	reader.PauseFetchPartitions(map[string][]int32{topic: {0}})
	seen := map[int32]int64{}
	take := func(until int64, partition int32) {
		for seen[partition] < until {
			for _, record := range poll(ctx, reader) {
				check(record.Offset == seen[record.Partition], "offset %d out of order", record.Offset)
				seen[record.Partition]++
			}
		}
	}
	take(300, 1)
	check(seen[0] == 0, "the paused partition gave %d records", seen[0])
	reader.ResumeFetchPartitions(map[string][]int32{topic: {0}})
	take(300, 0)
	return facts{"records": 600}
}

// groupRun: a cooperative group of growing and shrinking size commits every record it got exactly once.
func groupRun(ctx context.Context, bootstrap string, given args) facts {
	topic, width := given["topic"], given.number("partitions")
	var mutex sync.Mutex
	seen := map[string]int{}
	join := func() *kgo.Client {
		reader := client(bootstrap, kgo.ConsumerGroup(given["group"]), kgo.ConsumeTopics(topic),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.DisableAutoCommit(), kgo.BlockRebalanceOnPoll(),
			kgo.HeartbeatInterval(300*time.Millisecond), kgo.SessionTimeout(60*time.Second),
			kgo.Balancers(kgo.CooperativeStickyBalancer()))
		go func() {
			for {
				fetches := reader.PollFetches(ctx)
				if fetches.IsClientClosed() || ctx.Err() != nil {
					return
				}
				mutex.Lock()
				fetches.EachRecord(func(record *kgo.Record) { seen[string(record.Value)]++ })
				mutex.Unlock()
				if len(fetches.Records()) > 0 {
					must(reader.CommitUncommittedOffsets(ctx))
				}
				reader.AllowRebalance()
			}
		}()
		return reader
	}
	sent := 0
	produce := func() {
		for partition := 0; partition < width; partition++ {
			fill(ctx, bootstrap, topic, int32(partition), sent, 50)
			sent += 50
		}
		waitFor(ctx, "delivery", func() bool {
			mutex.Lock()
			defer mutex.Unlock()
			return len(seen) == sent
		})
	}
	a := join()
	produce()
	b, c := join(), join()
	produce()
	a.CloseAllowingRebalance()
	produce()
	b.CloseAllowingRebalance()
	produce()
	c.CloseAllowingRebalance()
	repeats := 0
	for _, times := range seen {
		repeats += times - 1
	}
	check(repeats == 0, "%d records came twice though every hand-over was planned", repeats)
	return facts{"records": sent}
}

func waitFor(ctx context.Context, what string, condition func() bool) {
	for !condition() {
		check(ctx.Err() == nil, "waited in vain: %s", what)
		time.Sleep(20 * time.Millisecond)
	}
}

// member joins a group, prints what it owns and gets as the Python members do, and leaves on a closed stdin.
func member(ctx context.Context, bootstrap string, given args) facts {
	out := json.NewEncoder(os.Stdout)
	stop, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	reader := client(bootstrap, kgo.ConsumerGroup(given["group"]), kgo.ConsumeTopics(given["topic"]),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.HeartbeatInterval(300*time.Millisecond),
		kgo.SessionTimeout(6*time.Second), kgo.RebalanceTimeout(10*time.Second), kgo.DisableAutoCommit())
	for stop.Err() == nil {
		var values []string
		for _, record := range reader.PollFetches(stop).Records() {
			values = append(values, string(record.Value))
		}
		if len(values) > 0 {
			must(out.Encode(facts{"got": values}))
			if err := reader.CommitUncommittedOffsets(ctx); err != nil {
				fmt.Fprintln(os.Stderr, "not committed, another member gets it again:", err)
			}
		}
	}
	reader.Close()
	return facts{"left": true}
}
