package main

import (
	"fmt"
	"slices"
	"time"
)

// answer describes the answer to a query. at is the time of the answer since the start of the run, and took is its
// duration. others counts the answers that other clients got in that duration. If the server is fair and the clients do
// not pause, each other client gets one answer.
type answer struct {
	at, took time.Duration
	others   int64
}

// quarters is the number of parts of the run in the report. The parts show warm-up and growth.
const quarters = 4

// report prints the durations of answers.
func (l *load) report(answers []answer, took time.Duration) {
	fmt.Printf("%d answers in %.1f s, %.0f a second, %d clients, no error\n", len(answers), took.Seconds(),
		float64(len(answers))/took.Seconds(), l.clients)
	fmt.Println(measured(answers))
	parts := make([][]answer, quarters)
	for _, a := range answers {
		i := min(int(a.at*quarters/took), quarters-1)
		parts[i] = append(parts[i], a)
	}
	for i, part := range parts {
		if len(part) > 0 {
			fmt.Printf("  quarter %d: %.0f a second, %v\n", i+1, float64(len(part))*quarters/took.Seconds(),
				measured(part))
		}
	}
	others := make([]int64, 0, len(answers))
	for _, a := range answers {
		others = append(others, a.others)
	}
	slices.Sort(others)
	fmt.Printf("answers of others meanwhile: p50 %d  p99 %d  max %d\n", others[len(others)/2],
		others[percent(99, len(others))], others[len(others)-1])
}

// readClocks sets own and server, the clocks of processor time. It returns an error if the server that --pid names has
// no clock. Without a clock of this process, own returns 0.
func (l *load) readClocks() (err error) {
	l.own, l.server = func() time.Duration { return 0 }, func() time.Duration { return 0 }
	if own, err := processorClock(0); err == nil {
		l.own = own
	}
	if l.pid > 0 {
		l.server, err = processorClock(l.pid)
	}
	return err
}

// reportWork prints the processor time of the clients and of the server per answer.
func (l *load) reportWork(answers []answer, clients, server time.Duration) {
	n := time.Duration(len(answers))
	fmt.Printf("processor time of an answer: clients %.3f ms", ms(clients/n))
	if l.pid != 0 {
		fmt.Printf(", server %.3f ms", ms(server/n))
	}
	fmt.Println()
}

// durations are the times of answers, the shortest first.
type durations []time.Duration

func measured(answers []answer) durations {
	d := make(durations, 0, len(answers))
	for _, a := range answers {
		d = append(d, a.took)
	}
	slices.Sort(d)
	return d
}

// percent returns the index of the p-th percentile in a sorted list of n values; p is 0 to 100.
func percent(p float64, n int) int { return min(n-1, int(p/100*float64(n))) }

func (d durations) at(p float64) time.Duration { return d[percent(p, len(d))] }

// String returns the usual percentiles.
func (d durations) String() string {
	return fmt.Sprintf("p50 %.1f ms  p90 %.1f ms  p99 %.1f ms  p99.9 %.1f ms  max %.1f ms", ms(d.at(50)), ms(d.at(90)),
		ms(d.at(99)), ms(d.at(99.9)), ms(d[len(d)-1]))
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
