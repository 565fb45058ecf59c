package stagetest

import (
	"encoding/json"
	"strings"

	"github.com/clinkctl/clinkctl/runstate"
	"github.com/clinkctl/clinkctl/stage"
)

var publishLaws = []law{
	{name: "invisible until published", check: invisible},
	{name: "publish publishes exactly the bytes", check: publishExact},
	{name: "handle says what was staged", check: handleSays},
	{name: "handle holds no bytes of the artifact", check: handleSmall},
	{name: "publish twice is once", check: publishTwice},
	{name: "lost reply of publish", check: lostReply},
	{name: "crash after prepare recovers once", check: crashAfterPrepare},
	{name: "crash before prepare publishes nothing", check: crashBeforePrepare},
	{name: "discard leaves nothing", check: discard},
	{name: "handles are independent", check: independent},
	{name: "two runs never meet", check: twoRuns},
	{name: "attempts stage side by side", check: attempts},
	{name: "artifact without bytes", check: zeroBytes},
	{name: "artifact of many writes", check: manyWrites},
}

func invisible(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	w := k.create(s, a)
	k.sees(nil)
	_, err := w.Write(dataOf(a))
	k.must(err)
	k.sees(nil)
	h, err := w.Prepare(k.Context(), 1, runstate.DigestOf(dataOf(a)))
	k.must(err)
	k.sees(nil)
	k.is(s, h, stage.Staged)
	k.is(k.Open(), h, stage.Staged)
	k.sees(nil)
	k.stages(1)
}

func publishExact(k *kit) {
	s, a := k.Open(), artifact(runA, 3, 17)
	h := k.stage(s, a, dataOf(a))
	k.must(s.Publish(k.Context(), h))
	k.sees(seen(a))
	k.is(s, h, stage.Published)
	k.stages(0)
}

func handleSays(k *kit) {
	a := artifact(runA, 2, 5)
	a.Attempt = 7
	h := k.stage(k.Open(), a, dataOf(a))
	want := runstate.Handle{Name: a.Name(), Sink: 1, Attempt: 7, Subtask: 2, Checkpoint: 5, Rows: 100,
		Bytes: int64(len(dataOf(a))), Digest: runstate.DigestOf(dataOf(a))}
	got := h
	got.Place, got.Backend, got.Payload = "", "", nil
	if gotText, wantText := text(k, got), text(k, want); gotText != wantText {
		k.Errorf("the handle is %s and not %s", gotText, wantText)
	}
	if h.Place == "" || h.Backend == "" || !json.Valid(h.Payload) {
		k.Errorf("place, backend or payload is missing: %s", text(k, h))
	}
}

func text(k *kit, h runstate.Handle) string {
	line, err := json.Marshal(h)
	k.must(err)
	return string(line)
}

func handleSmall(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	data := strings.Repeat("a secret row\n", 10_000)
	h := k.stage(s, a, []byte(data))
	if line := text(k, h); len(line) > 8<<10 || strings.Contains(line, "a secret row") {
		k.Errorf("the handle has %d bytes", len(line))
	}
}

func publishTwice(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	for _, sink := range []stage.Sink{s, s, k.Open(), k.Open()} {
		k.must(sink.Publish(k.Context(), h))
		k.is(sink, h, stage.Published)
		k.sees(seen(a))
		k.stages(0)
	}
}

func lostReply(k *kit) {
	faults, err := ParseFaults("publish@1=lost-reply")
	k.must(err)
	s, a := faults.Sink(k.Open(), ""), artifact(runA, 0, 1)
	h := k.stage(s, a, dataOf(a))
	if err := s.Publish(k.Context(), h); err == nil {
		k.Fatal("the reply was not lost")
	}
	k.is(s, h, stage.Published)
	k.must(s.Publish(k.Context(), h))
	k.sees(seen(a))
}

func crashAfterPrepare(k *kit) {
	a := artifact(runA, 0, 1)
	h := k.stage(k.Open(), a, dataOf(a)) // nobody closes this sink
	for range 2 {
		recovering := k.Open()
		k.must(recovering.Publish(k.Context(), h))
		k.is(recovering, h, stage.Published)
		k.must(recovering.Close())
		k.sees(seen(a))
		k.stages(0)
	}
}

func crashBeforePrepare(k *kit) {
	a := artifact(runA, 0, 1)
	_, err := k.create(k.Open(), a).Write(dataOf(a))
	k.must(err)
	recovering := k.Open()
	k.sees(nil)
	if sweeper, ok := recovering.(stage.Sweeper); ok {
		k.must(sweeper.Sweep(k.Context(), runA, nil))
		k.stages(0)
	}
	k.sees(nil)
}

func discard(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	w := k.create(s, a)
	_, err := w.Write(dataOf(a))
	k.must(err)
	k.must(w.Discard(k.Context()))
	k.must(k.create(s, artifact(runA, 0, 2)).Discard(k.Context()))
	k.sees(nil)
	k.stages(0)
}

func independent(k *kit) {
	s := k.Open()
	a, b, c := artifact(runA, 0, 1), artifact(runA, 0, 2), artifact(runA, 1, 1)
	ha, hb, hc := k.stage(s, a, dataOf(a)), k.stage(s, b, dataOf(b)), k.stage(s, c, dataOf(c))
	k.must(s.Publish(k.Context(), hb))
	k.is(s, ha, stage.Staged)
	k.is(s, hc, stage.Staged)
	k.sees(seen(b))
	k.must(s.Abort(k.Context(), ha))
	k.is(s, ha, stage.Gone)
	k.is(s, hc, stage.Staged)
	k.must(s.Publish(k.Context(), hc))
	k.sees(seen(b, c))
	k.stages(0)
}

func twoRuns(k *kit) {
	s, a, b := k.Open(), artifact(runA, 0, 1), artifact(runB, 0, 1)
	ha := k.stage(s, a, dataOf(a))
	hb := k.stage(k.Open(), b, dataOf(b))
	k.must(s.Publish(k.Context(), ha))
	k.sees(seen(a))
	k.must(s.Publish(k.Context(), hb))
	k.sees(seen(a, b))
}

func attempts(k *kit) {
	first, second := artifact(runA, 0, 1), artifact(runA, 0, 1)
	second.Attempt = 2
	w := k.create(k.Open(), first) // its process dies
	_, err := w.Write(dataOf(first))
	k.must(err)
	s := k.Open()
	h := k.stage(s, second, dataOf(second))
	if sweeper, ok := s.(stage.Sweeper); ok {
		k.must(sweeper.Sweep(k.Context(), runA, []runstate.Handle{h}))
		k.stages(1)
	}
	k.must(s.Publish(k.Context(), h))
	k.sees(seen(second))
}

func zeroBytes(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	h := k.stage(s, a, nil)
	k.is(s, h, stage.Staged)
	for range 2 {
		k.must(s.Publish(k.Context(), h))
		k.is(s, h, stage.Published)
	}
	k.sees(map[string][]byte{a.Name(): nil})
}

func manyWrites(k *kit) {
	s, a := k.Open(), artifact(runA, 0, 1)
	w := k.create(s, a)
	var all []byte
	for i := range 300 {
		part := dataOf(artifact(runB, i, 1))[:i]
		all = append(all, part...)
		n, err := w.Write(part)
		k.must(err)
		if n != len(part) {
			k.Fatalf("%d of %d bytes written, without an error", n, len(part))
		}
		clear(part) // the backend has no right to what it was given
	}
	h, err := w.Prepare(k.Context(), 300, runstate.DigestOf(all))
	k.must(err)
	k.must(s.Publish(k.Context(), h))
	k.is(s, h, stage.Published)
	k.sees(map[string][]byte{a.Name(): all})
}

// handleSurvives is run for destinations with odd names.
func handleSurvives(k *kit) {
	a, b := artifact(runA, 0, 1), artifact(runA, 0, 2)
	s := k.Open()
	ha, hb := k.stage(s, a, dataOf(a)), k.stage(s, b, dataOf(b))
	k.must(s.PutNote(k.Context(), runstate.ManifestName(runA), []byte("{}")))
	k.must(s.Close())
	s = k.Open()
	k.must(s.Publish(k.Context(), ha))
	k.must(s.Abort(k.Context(), hb))
	k.is(s, ha, stage.Published)
	k.is(s, hb, stage.Gone)
	want := seen(a)
	want[runstate.ManifestName(runA)] = []byte("{}")
	k.sees(want)
	k.stages(0)
}
