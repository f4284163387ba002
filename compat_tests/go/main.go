// The franz-go side of the compatibility tests: compat BOOTSTRAP SCENARIO KEY=VALUE...
//
// Runs one scenario, prints one JSON line with its facts, and exits with 1 and the reason on standard error when
// something is not as it must be. Built with the oldest Go that Debian 12 offers, hence the version of franz-go.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

type args map[string]string

func (a args) number(name string) int {
	value, err := strconv.Atoi(a[name])
	must(err)
	return value
}

type facts map[string]interface{}

var scenarios = map[string]func(context.Context, string, args) facts{
	"produceConsume": produceConsume,
	"large":          large,
	"group":          groupRun,
	"seek":           seek,
	"pause":          pause,
	"resume":         resume,
	"admin":          admin,
	"member":         member,
}

func main() {
	given := args{}
	for _, pair := range os.Args[3:] {
		name, value, _ := strings.Cut(pair, "=")
		given[name] = value
	}
	ctx, cancel := context.WithTimeout(context.Background(), 280*time.Second)
	defer cancel()
	must(json.NewEncoder(os.Stdout).Encode(scenarios[os.Args[2]](ctx, os.Args[1], given)))
}

func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func check(condition bool, format string, values ...interface{}) {
	if !condition {
		fail(format, values...)
	}
}

func fail(format string, values ...interface{}) {
	panic(fmt.Sprintf(format, values...))
}

func client(bootstrap string, options ...kgo.Opt) *kgo.Client {
	made, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(bootstrap),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(2 * time.Millisecond),
	}, options...)...)
	must(err)
	return made
}

// poll returns what one poll brings; an error in a fetch is the end of the scenario.
func poll(ctx context.Context, from *kgo.Client) []*kgo.Record {
	fetches := from.PollFetches(ctx)
	for _, bad := range fetches.Errors() {
		fail("fetch of %s-%d: %v", bad.Topic, bad.Partition, bad.Err)
	}
	return fetches.Records()
}

// readAll reads count records of partition 0 from the start and checks their offsets.
func readAll(ctx context.Context, bootstrap, topic string, partition int32, count int) []*kgo.Record {
	reader := client(bootstrap, kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{
		topic: {partition: kgo.NewOffset().AtStart()},
	}))
	defer reader.Close()
	var found []*kgo.Record
	for len(found) < count {
		found = append(found, poll(ctx, reader)...)
	}
	for i, record := range found {
		check(record.Offset == int64(i), "record %d has offset %d", i, record.Offset)
	}
	check(len(found) == count, "%d records instead of %d", len(found), count)
	return found
}
