"""A toy model of the kproto replication protocol: random scheduler, faults, mutations.

Not product code: a research check that the numbered rules in ../replication-rules.md are enough
under the modelled faults, and that each rule that has a mutation here is needed.

    python3 vlogsim.py [seeds=500] ['mutation[,mutation];...' ('' = all rules on)] [early share 0..1]

One process, no clock, no threads: a seeded random.Random picks the next event.
Entries are the unit (no bytes): (partition, offset, pid, seq, value, leader epoch, attempt).
Brokers 0..N-1; each owns one vlog at a time; R-1 backups per virtual segment (vseg); all must ack.
The controller's metadata (vm, pm) is a linearizable CAS store.

Recovery takes one of three paths (rules 27, 27b), mixed at random:
  full   everything is replayed into the new leader's vlog, then one CAS;
  early  the open vseg is sealed and closed by CAS, then one CAS: sources = old closed vsegs + own vlog;
  tail   as early, but the chunks of the open vseg are replayed instead of closing it.
After early and tail the leader serves old offsets from copies of the old vsegs (`home` says which),
brings them over in the background, drops each old source by CAS, and the controller frees the vseg.
A partition's `sources` is a list of (vlog, sid, position): one closed vseg, or (sid 0) a vlog from a position.

Fault budget: R-1 copies of anything may be lost between two moments at which the system itself
reports full redundancy (`healthy`).  A dead owner is one lost copy; a wiped disk is one; so is a broker that
loses power in page-cache mode (half of the seeds: acks without fsync, so unsynced copies go to limbo).  With
fsync before ack all brokers may lose power at once.  Inside the budget no vseg in use may run out of eligible copies.

Also here: quick restarts adopt their own journal up to the sealed end (2b, 'adopt'); planned moves (12b: refuse, wait, roll,
one CAS, no fence); smaller backup sets while brokers are missing (18, half of the seeds) and one partition with a single
copy (18b, `solo`); files that were never synced are lost with the power themselves (`lost files`: what the metadata lists
and the disk does not have goes to limbo, unless acks were synced: then a missing file proves that nothing was acked).
"""
from __future__ import annotations
import random, sys, collections
from dataclasses import dataclass, field

N, R, P = 5, 3, 3

class Violation(Exception): pass

@dataclass
class Seg:                      # metadata of one virtual segment
    sid: int; backups: list; start: int; end: int | None = None; freed: bool = False     # end None = open
@dataclass
class VlogMeta:
    owner: int; bepoch: int; state: str = 'OPEN'; segs: list = field(default_factory=list)   # OPEN, SEALING, CLOSED
@dataclass
class PartMeta:
    leader: int; epoch: int; state: str; sources: list; valid: set

@dataclass
class Replica:                  # backup-side copy of one virtual segment
    ents: list = field(default_factory=list); dur: int = 0; fence: int = -1; limbo: bool = False; gone: bool = False

class Broker:
    def __init__(s, i): s.id = i; s.up = True; s.inc = 0; s.store = {}; s.journal = None; s.solo = []; s.dark = False; s.clear()
    def clear(s): s.parts = {}; s.vlog = None; s.bepoch = -1; s.rec = {}

class Sim:
    def __init__(s, seed, mut=(), steps=1500, early=None):
        s.r = random.Random(seed); s.mut = set(mut); s.steps = steps
        s.early = s.r.choice([0, .5, .8, 1, 1]) if early is None else early      # share of recoveries that commit early
        s.bring = s.r.choice([.02, .1, .5])                                      # eagerness of the background bring-over
        s.sync = s.r.random() < .5 or 'ack_memory' in s.mut                      # fsync before ack, or page cache
        s.b = [Broker(i) for i in range(N)]; s.alive = [True]*N; s.bep = [0]*N
        s.vm = {}; s.pm = {}; s.msgs = []; s.cut = set(); s.nv = 0; s.ns = 0; s.now = 0
        s.acked = [dict() for _ in range(P)]; s.seen = [dict() for _ in range(P)]
        s.prod = [dict(seq=0, busy=False) for _ in range(P)]
        s.cons = [dict(off=0, ep=-1, lead=None) for _ in range(P)]
        s.hurt = s.quiet = False; s.cover = collections.Counter()
        s.thin = s.r.random() < .5                                               # sets may shrink (18)
        s.solo = dict(leader=0, store=(0, 0), epoch=0, acked=0, seen=0)          # the partition with one copy (18b)
        for i in range(N): s.new_vlog(s.b[i], 0)
        for p in range(P):
            s.pm[p] = PartMeta(p, 0, 'ONLINE', [(s.b[p].vlog['v'], 0, 0)], {0})
            s.b[p].parts[p] = s.new_part(0, online=True)

    # ---- metadata ------------------------------------------------------------------
    def new_part(s, epoch, online=False):
        return dict(epoch=epoch, log=[], hw=0, online=online, seqs={}, home={}, brought={}, view={}, valid={epoch}, local=set(), moving=False)
    def pick(s, me, n):
        c = [i for i in range(N) if i != me and s.alive[i]]
        s.r.shuffle(c)
        if s.thin and 0 < len(c) < n: s.cover['shrunk set'] += 1; return c
        return c[:n] if len(c) >= n else None
    def new_vlog(s, br, bep):
        bk = s.pick(br.id, R-1)
        if bk is None: return False
        s.nv += 1; s.ns += 1; v = s.nv
        s.vm[v] = VlogMeta(br.id, bep, 'OPEN', [Seg(s.ns, [(x, s.b[x].inc) for x in bk], 0)])
        br.bepoch = bep
        br.vlog = dict(v=v, ents=[], d=0, seg=Seg(s.ns, list(s.vm[v].segs[-1].backups), 0), acked={x: 0 for x in bk}, dead=False)
        return True
    def seg(s, v, sid): return next((g for g in s.vm[v].segs if g.sid == sid), None)
    def segs_of(s, src):
        v, sid, lo = src
        return [(v, g) for g in s.vm[v].segs if (g.sid == sid if sid else g.end is None or g.end > lo)]
    def used(s, v, g):
        """Does the sources list of some partition reach into this vseg?"""
        return any(src[0] == v and (src[1] == g.sid or not src[1] and (g.end is None or g.end > src[2]))
                   for q in s.pm.values() if 'free_early' not in s.mut or q.state == 'ONLINE' for src in q.sources)
    def clip(s, g, ents): return ents if g.end is None or 'no_clip' in s.mut else ents[:g.end-g.start]
    def intact(s, v, g, x, inc):
        """Rule 22/23 as the store of x itself sees it."""
        rep = s.b[x].store.get((v, g.sid))
        if s.b[x].inc != inc: return False
        if g.end is None: return rep is None or not rep.limbo
        return rep is not None and not rep.limbo and not rep.gone and len(rep.ents) >= g.end-g.start
    def known(s, v, g, x, inc):         # what the controller believes: nothing new about a broker that is down
        return s.alive[x] and (not s.b[x].up or s.intact(v, g, x, inc))

    # ---- messages --------------------------------------------------------------------
    def send(s, src, dst, *m):
        if len(s.msgs) < 150: s.msgs.append((src, dst, m))
        else: s.msgs[s.r.randrange(150)] = (src, dst, m)                 # congestion: a random message is lost
    def deliver(s):
        if not s.msgs: return
        i = s.r.randrange(len(s.msgs)); src, dst, m = s.msgs[i]
        if s.r.random() < .9: s.msgs[i] = s.msgs[-1]; s.msgs.pop()       # else: duplicated
        if (src, dst) in s.cut or s.r.random() < .05: return
        if not s.b[dst].up: return
        getattr(s, 'on_'+m[0])(s.b[dst], src, *m[1:])

    # backup side
    def on_append(s, br, src, v, sid, ep, pos, ents, open_):
        k = (v, sid); rep = br.store.get(k)
        if rep is None:
            if not open_: return
            rep = br.store[k] = Replica()
        if 'nofence' not in s.mut and ep < rep.fence: s.cover['fenced append'] += 1; return s.send(br.id, src, 'nack', v, sid)
        if pos > len(rep.ents) or rep.limbo and 'no_limbo' not in s.mut: return
        for j, e in enumerate(ents):
            q = pos + j
            if q < len(rep.ents):
                if rep.ents[q] != e:
                    if 'epoch_reuse' in s.mut: continue
                    raise Violation(f'backup {br.id} asked to overwrite {rep.ents[q]} with {e}')
            else: rep.ents.append(e)
        if 'ack_memory' not in s.mut and (s.sync or s.r.random() < .2): rep.dur = len(rep.ents)   # fsync before ack, or some time later
        s.send(br.id, src, 'acked', v, sid, br.id, pos+len(ents), br.inc)
    def on_nack(s, br, src, v, sid):
        if br.vlog and br.vlog['v'] == v: br.vlog['dead'] = True
    def on_seal(s, br, src, v, sid, ep, who, p, att):
        # never heard of the segment: a fence must still be persisted, or a late append would be acked
        rep = br.store.setdefault((v, sid), Replica())
        if rep.limbo and 'no_limbo' not in s.mut or rep.gone: return
        rep.fence = max(rep.fence, ep)
        s.send(br.id, who, 'copy', v, sid, p, att, list(rep.ents), br.id, br.inc)
    def on_read(s, br, src, v, sid, who, p, ep):
        rep = br.store.get((v, sid))
        if rep is None or (rep.limbo and 'no_limbo' not in s.mut) or rep.gone: return
        s.send(br.id, who, 'copy', v, sid, p, ep, list(rep.ents), br.id, br.inc)
    def on_delete(s, br, src, v, sid):
        rep = br.store.get((v, sid))
        if rep is None: return
        if 'del_fence' in s.mut: del br.store[(v, sid)]
        else: rep.ents = []; rep.dur = 0; rep.gone = True; rep.fence = 1 << 30       # the bytes go, the fence stays
    # repair of a closed vseg (rule 17): asker -> source copy -> target -> asker, who makes the CAS
    def on_rread(s, br, src, v, sid, dst):
        g = s.seg(v, sid); n = g.end-g.start
        if br.vlog and br.vlog['v'] == v: ents = br.vlog['ents'][g.start:g.end]      # the live owner's own journal
        elif s.intact(v, g, br.id, br.inc) and (br.id, br.inc) in g.backups: ents = br.store[(v, sid)].ents[:n]
        else: return
        s.send(br.id, dst, 'rcopy', v, sid, ents, src)
    def on_rcopy(s, br, src, v, sid, ents, asker):
        g = s.seg(v, sid); rep = br.store.setdefault((v, sid), Replica())
        if rep.gone or len(ents) != g.end-g.start: return
        if rep.limbo or len(rep.ents) < len(ents): rep.ents = list(ents); rep.limbo = False     # the fence is kept
        rep.dur = len(rep.ents)
        s.send(br.id, asker, 'rdone', v, sid, br.id, br.inc)
    def on_rdone(s, br, src, v, sid, who, inc):
        g = s.seg(v, sid)
        if g.freed or (who, inc) in g.backups: return
        g.backups = g.backups + [(who, inc)]; s.cover['repaired'] += 1
        good = [b for b in g.backups if s.known(v, g, *b)]
        if len(good) >= R-1 or 'repair_shrink' in s.mut: g.backups = good   # members merely out of sight stay listed until then

    # leader side
    def on_acked(s, br, src, v, sid, who, n, inc):
        vl = br.vlog
        if not vl or vl['v'] != v or vl['seg'].sid != sid or who not in vl['acked']: return
        if (who, inc) not in vl['seg'].backups and 'no_limbo' not in s.mut: return
        vl['acked'][who] = max(vl['acked'][who], n)
        d = vl['seg'].start + min(vl['acked'].values())
        if 'quorum_any' in s.mut: d = vl['seg'].start + max(vl['acked'].values())
        if d > vl['d']:
            for p, off, pid, seq, val, ep, tag in vl['ents'][vl['d']:d]:
                part = br.parts.get(p)
                if part and tag == part['epoch'] and part['online']: part['hw'] = max(part['hw'], off+1)
            vl['d'] = d
    def on_copy(s, br, src, v, sid, p, ep, ents, who, inc):
        g = s.seg(v, sid); rc = br.rec.get(p); part = br.parts.get(p)
        if (who, inc) not in g.backups and not s.mut & {'stale_backup', 'no_limbo'}: return  # only the metadata's backup set counts
        if g.end is not None and len(ents) < g.end - g.start: return
        if rc and rc['epoch'] == ep:
            rc['got'].setdefault(sid, ents); rc['sealed'].setdefault(sid, {})[who] = len(ents)
        elif part and part['online'] and part['epoch'] == ep and g.end is not None and sid not in part['brought'] and not br.vlog['dead']:
            for e in s.clip(g, ents):                       # bring-over: verbatim, tagged with this leader's attempt
                if e[0] == p and part['home'].get(e[1]) == (v, sid) and e[6] in part['valid']:
                    br.vlog['ents'].append(e[:6] + (ep,)); part['log'][e[1]] = br.vlog['ents'][-1]; del part['home'][e[1]]
            part['brought'][sid] = len(br.vlog['ents'])

    # ---- leader work -----------------------------------------------------------------
    def leader_tick(s, br, faults=True):
        vl = br.vlog
        if not vl or vl['dead']: return
        seg = vl['seg']
        for x, n in vl['acked'].items():
            ents = vl['ents'][seg.start+n:]
            if ents or n == 0: s.send(br.id, x, 'append', vl['v'], seg.sid, br.bepoch, n, ents[:4], n == 0)
        bad = [x for x, inc in seg.backups if not s.known(vl['v'], seg, x, inc)]
        thin = len(seg.backups) < R-1 and sum(s.alive) >= R and 'no_rewiden' not in s.mut                # rule 18
        if ((bad or thin) and s.r.random() < .5) or s.r.random() < (.02 if faults else .005): s.ensemble_change(br)
        for p in list(br.rec): s.recover_tick(br, p)
        for p in list(br.parts):
            if s.r.random() < (s.bring if faults else .5): s.bring_tick(br, p)
            if br.parts[p]['moving']: s.move_tick(br, p)
    def ensemble_change(s, br):
        vl = br.vlog; bk = s.pick(br.id, R-1)
        if bk is None: return False
        m = s.vm[vl['v']]; s.cover['ensemble change'] += 1
        if 'swap_in_place' in s.mut:
            if m.state != 'OPEN': vl['dead'] = True; return False
            m.segs[-1].backups = [(x, s.b[x].inc) for x in bk]; vl['seg'].backups = list(m.segs[-1].backups)
            vl['acked'] = {x: vl['acked'].get(x, 0) for x in bk}; return True
        s.ns += 1; seg = Seg(s.ns, [(x, s.b[x].inc) for x in bk], vl['d'])
        if 'no_cas' not in s.mut:
            if m.state != 'OPEN' or m.bepoch != br.bepoch: vl['dead'] = True; s.cover['cas refused'] += 1; return False
            m.segs[-1].end = vl['d']; m.segs.append(seg)
        vl['seg'] = Seg(seg.sid, list(seg.backups), seg.start); vl['acked'] = {x: 0 for x in bk}
        return True
    def append(s, br, p, pid, seq, val):
        part = br.parts.get(p)
        if not part or not part['online'] or not br.vlog or br.vlog['dead']: return None
        if part['moving'] and 'move_norefuse' not in s.mut: return None          # rule 12b: refuse first
        if part['seqs'].get(pid, -1) >= seq: return 'dup'
        off = len(part['log']); e = (p, off, pid, seq, val, part['epoch'], part['epoch'])
        part['log'].append(e); part['seqs'][pid] = seq; br.vlog['ents'].append(e)
        if 'hw_is_leo' in s.mut: part['hw'] = off+1
        return off
    def bring_tick(s, br, p):
        """After an early commit: read one old source and re-append it, or drop it once that is durable."""
        part = br.parts[p]; q = s.pm[p]; vl = br.vlog
        if not part['online'] or q.leader != br.id or q.epoch != part['epoch'] or len(q.sources) < 2: return
        src = s.r.choice(q.sources[:-1]); v, sid, _ = src; g = s.seg(v, sid)
        if g is None: return                                # (only a mutation leaves a whole old vlog here)
        if sid not in part['brought']:
            s.send(br.id, s.r.choice(g.backups)[0], 'read', v, sid, br.id, p, part['epoch'])
        elif (vl['d'] >= part['brought'][sid] or 'drop_early' in s.mut) and s.vm[vl['v']].state == 'OPEN':
            q.sources = [x for x in q.sources if x != src]; s.cover['source dropped'] += 1
            if len(q.sources) == 1: q.valid = {part['epoch']}

    def move_tick(s, br, p):
        """Rule 12b: wait until d covers the last chunk, roll, one CAS. The old leader hears of it some time later."""
        part = br.parts[p]; q = s.pm[p]; vl = br.vlog; m = s.vm[vl['v']]
        if q.leader != br.id or q.epoch != part['epoch']:
            if s.r.random() < .3: br.parts.pop(p)
            return
        mine = [i for i, e in enumerate(vl['ents']) if e[0] == p and e[6] == part['epoch']]
        if mine and vl['d'] <= mine[-1] and 'move_nowait' not in s.mut: return
        c = [i for i in range(N) if i != br.id and s.alive[i] and s.b[i].up and s.b[i].vlog and not s.b[i].vlog['dead']]
        if not c or not part['online']: return
        if 'move_noroll' not in s.mut:
            if not s.ensemble_change(br): return
        if m.state != 'OPEN' or m.bepoch != br.bepoch: vl['dead'] = True; return
        closed = [(vl['v'], g.sid, 0) for g in m.segs if g.end is not None and any(g.start <= i < g.end for i in mine)]
        n = s.r.choice(c); q.sources = [x for x in q.sources if x[0] != vl['v'] or x[1]] + closed
        q.leader = n; q.epoch += 1; q.state = 'RECOVERING'; s.cover['planned move'] += 1
        s.b[n].rec[p] = s.new_attempt(q.epoch, 'early'); s.b[n].parts.pop(p, None)

    # ---- recovery ----------------------------------------------------------------------
    def declare_dead(s, i):
        """The controller gives up on broker i (maybe wrongly: i may be a live zombie)."""
        if sum(s.alive) <= (2 if s.thin else R): return
        s.alive[i] = False; s.cover['declared dead'] += 1
        s.sealing(i); s.solo_dead(i)
        for p, q in s.pm.items():
            if q.leader == i: s.move(p)
    def sealing(s, i):
        for m in s.vm.values():
            if m.owner == i and m.state == 'OPEN': m.state = 'SEALING'
    def move(s, p, back=None):
        q = s.pm[p]; c = [i for i in range(N) if s.alive[i] and s.b[i].up and s.b[i].vlog and not s.b[i].vlog['dead']]
        if not c: return
        n = back if back in c and s.r.random() < .8 else s.r.choice(c)
        q.leader = n; q.epoch += 1; q.state = 'RECOVERING'
        for b in s.b:
            if b.id != n: b.rec.pop(p, None)
        s.b[n].rec[p] = s.new_attempt(q.epoch, 'early' if n == back or s.r.random() < s.early else 'full')
        s.b[n].parts.pop(p, None)
    def new_attempt(s, epoch, path): return dict(epoch=epoch, path=path, got={}, sealed={}, lo=None, target=None, own=set())
    def recover_tick(s, br, p):
        rc = br.rec[p]; q = s.pm[p]; vl = br.vlog
        if q.epoch != rc['epoch'] or q.leader != br.id: br.rec.pop(p); return
        if rc['target'] is None and not s.rebuild(br, p, rc, q): return
        part = br.parts[p]; own = (vl['v'], 0, rc['lo']); ep = rc['epoch']
        if 'expose_early' in s.mut:
            q.sources = q.sources + [own]; q.valid = q.valid | {ep}
        elif vl['d'] < rc['target'] or s.vm[vl['v']].state != 'OPEN': return
        else:                                               # the one commit point
            old = list(dict.fromkeys(part['home'].values()))
            if len(set(v for v, _ in old)) > 1: s.cover['early commit over several dead owners'] += 1
            q.sources = [(v, sid, 0) for v, sid in old] + [own]
            q.valid = q.valid | {ep} if old else {ep}
            part['view'] = {sid: list(s.seg(v, sid).backups) for v, sid in old}
        q.state = 'ONLINE'; part['online'] = True; part['hw'] = len(part['log']); part['valid'] = set(q.valid); br.rec.pop(p)
        if 'hw_footer' in s.mut and rc['path'] == 'early':  # what the last footer says, without the sealed tail
            part['hw'] = sum(part['home'][o][1] != s.vm[part['home'][o][0]].segs[-1].sid for o in part['home'])
        s.cover['recovered '+rc['path']] += 1
    def rebuild(s, br, p, rc, q):
        """Seal and read every source; True when the log is rebuilt and what must be replayed is placed."""
        segs = [x for src in q.sources for x in s.segs_of(src)]; wait = False
        for v, g in segs:
            if g.end is not None and len(rc['got'].get(g.sid, ())) < g.end-g.start: rc['got'].pop(g.sid, None)
            if g.end == g.start and 'wait_empty' not in s.mut: rc['got'][g.sid] = []        # nothing was ever acked in it
            if rc['path'] == 'early' and g.end is None: wait |= not s.close(rc, v, g)
            if rc['path'] == 'early' and br.journal and br.journal[0] == v and g.end is not None:
                own = br.journal[1][g.start:g.end]; ok = len(br.journal[1]) >= g.end
                if ok: rc['got'][g.sid] = own; rc['own'].add(g.sid)
                if ok and 'adopt_all' in s.mut and g is s.vm[v].segs[-1]: rc['got'][g.sid] = br.journal[1][g.start:]
            if g.sid in rc['got'] and not (wait and g.end is None): continue
            wait |= g.sid not in rc['got']
            noseal = 'noseal' in s.mut or 'early_noseal' in s.mut and rc['path'] == 'early'
            for x in range(N) if 'stale_backup' in s.mut else [x for x, _ in g.backups]:
                if g.end is None and not noseal: s.send(br.id, x, 'seal', v, g.sid, s.vm[v].bepoch+1, br.id, p, rc['epoch'])
                else: s.send(br.id, x, 'read', v, g.sid, br.id, p, rc['epoch'])
        if wait:
            if rc['path'] == 'early' and s.r.random() < .03: rc['path'] = 'tail'             # a backup of the open vseg does not answer
            return False
        log = {}; home = {}
        for v, g in segs:
            got = rc['got'][g.sid]; s.cover['adopted own files'] += g.sid in rc['own']
            for e in got if 'adopt_all' in s.mut and g.sid in rc['own'] else s.clip(g, got):
                if e[0] == p and (e[6] in q.valid or 'no_attempt_filter' in s.mut) and e[1] not in log:
                    log[e[1]] = e
                    if g.end is not None and rc['path'] != 'full': home[e[1]] = (v, g.sid)  # stays where it is
        log = [log[o] for o in sorted(log)]
        if [e[1] for e in log] != list(range(len(log))): raise Violation(f'gap in recovered p{p}: {[e[1] for e in log]}')
        part = br.parts[p] = s.new_part(rc['epoch']); part['home'] = home; part['local'] = {o for o, (_, sid) in home.items() if sid in rc['own']}; rc['lo'] = len(br.vlog['ents'])
        for e in log:
            if e[1] not in home: e = e[:6] + (rc['epoch'],); br.vlog['ents'].append(e)
            part['log'].append(e); part['seqs'][e[2]] = max(part['seqs'].get(e[2], -1), e[3])
        rc['target'] = len(br.vlog['ents']); return True
    def close(s, rc, v, g):
        """Early path: fix the end of a sealed vseg by CAS.  Every listed copy must hold [start, end)."""
        lens = [rc['sealed'].get(g.sid, {}).get(x) for x, _ in g.backups]; have = [n for n in lens if n is not None]
        if not have: return False
        if s.mut & {'end_one', 'early_noseal'}: n = s.r.choice(have)        # one sealed reply is safe for rule 27, not here
        elif 'end_longest' in s.mut: n = max(have)
        elif len(have) < len(lens): return False
        else: n = min(have)
        g.end = g.start+n; s.vm[v].state = 'CLOSED'; s.cover['closed'] += 1
        return g.sid in rc['got'] and len(rc['got'][g.sid]) >= n

    # ---- controller: repair and free ---------------------------------------------------------
    def short(s):
        """Vsegs in use that have fewer copies than they should, as the controller knows."""
        out = []
        for v, m in s.vm.items():
            for g in m.segs:
                if g.freed or g.end == g.start or not s.used(v, g): continue
                want = R-1 if m.state == 'OPEN' else R           # a dead owner's own copy has to be replaced too
                if m.state != 'OPEN' and 'no_repair' in s.mut: want = 0
                if m.state != 'OPEN' and 'repair_r1' in s.mut: want = R-1
                if g.end is None: want = R-1 if m.state == 'OPEN' else N
                if sum(s.known(v, g, x, inc) for x, inc in g.backups) < want: out.append((v, g))
        return out
    def healthy(s): return all(b.up and b.vlog for b in s.b) and all(s.alive) and all(q.state == 'ONLINE' for q in s.pm.values()) and not s.short()
    def controller_tick(s, br):
        todo = [(v, g) for v, g in s.short() if g.end is not None]
        if todo:
            v, g = s.r.choice(todo); good = [x for x, inc in g.backups if s.known(v, g, x, inc)]
            to = [x for x in range(N) if s.alive[x] and x not in good and (s.vm[v].state != 'OPEN' or x != s.vm[v].owner)]
            if s.vm[v].state == 'OPEN': good.append(s.vm[v].owner)
            if good and to:
                to = s.r.choice(to)
                if 'repair_nocopy' in s.mut: return s.on_rdone(br, br.id, v, g.sid, to, s.b[to].inc)
                s.send(br.id, s.r.choice(good), 'rread', v, g.sid, to)
        for v, m in s.vm.items():
            for g in m.segs:
                if m.state != 'OPEN' and not g.freed and not s.used(v, g):
                    g.freed = True; s.cover['freed'] += 1
                for x, _ in g.backups if g.freed else ():
                    rep = s.b[x].store.get((v, g.sid))
                    if rep and not rep.gone and s.r.random() < .3: s.send(br.id, x, 'delete', v, g.sid)
    def check_copies(s):
        """S8: inside the fault budget every vseg in use keeps an eligible copy (or its live owner)."""
        if 'ack_memory' in s.mut: return
        for v, m in s.vm.items():
            own = s.b[m.owner]
            if own.up and own.vlog and own.vlog['v'] == v: continue
            for g in m.segs:
                if g.end != g.start and s.used(v, g) and not any(s.intact(v, g, x, inc) for x, inc in g.backups):
                    raise Violation(f'no eligible copy left of vseg {g.sid} of vlog {v} ({m.state})')

    # ---- faults -------------------------------------------------------------------------
    def crash(s, i, power=False, wipe=False):
        br = s.b[i]; br.up = False; s.cover['power' if power else 'wipe' if wipe else 'crash'] += 1; br.dark = power
        vl = br.vlog; br.journal = None if wipe or vl is None else (vl['v'], list(vl['ents']))
        if power and vl is not None: br.journal = (vl['v'], vl['ents'][:vl['d']]) if s.sync else None
        for k, rep in list(br.store.items()):
            if power:
                if rep.dur < len(rep.ents): rep.limbo = True; s.cover['limbo'] += 1    # unclean: suffix may be gone
                if rep.dur == 0 and rep.ents and not rep.gone and s.r.random() < .5: s.lose_file(br, k, rep)
                del rep.ents[rep.dur:]
        if wipe: br.store = {}; br.inc += 1; br.solo = []
        if power and not s.sync: del br.solo[s.r.randint(0, len(br.solo)):]
        if wipe or power and not s.sync:
            if s.solo['store'][0] == i: s.solo['lost'] = True                        # its only copy: no promise is left
        br.saved = (br.parts, br.vlog, br.bepoch) if 'epoch_reuse' in s.mut else None
        br.clear()
    def lose_file(s, br, k, rep):
        """A file that was never synced is gone with the power; a fence is not (it was synced on its own)."""
        s.cover['lost file'] += 1
        if rep.fence < 0: del br.store[k]
        else: rep.limbo = 'no_lost_limbo' not in s.mut
    def after_power(s, br):
        """Whatever the metadata lists for this store and the disk does not have may be what was lost."""
        br.dark = False
        if s.sync or 'no_lost_limbo' in s.mut: return
        for v, m in s.vm.items():
            for g in m.segs:
                if (br.id, br.inc) in g.backups and (v, g.sid) not in br.store:
                    br.store[(v, g.sid)] = Replica(limbo=True); s.cover['limbo without file'] += 1
    def lose_disks(s):
        """One disk since the last full redundancy (owners may have died); or two at once, then no owner dies before repair."""
        ok = s.healthy()
        if s.thin and not ok: return                                             # a smaller set: a smaller budget
        if s.hurt and not ok or sum(b.up for b in s.b) <= R: return
        k = s.r.choice([1, 1, 2]) if ok else 1; s.quiet = k == 2; s.hurt = True; s.cover[f'{k} disk(s) lost'] += 1
        for i in s.r.sample([i for i in range(N) if s.b[i].up], k): s.crash(i, **({'wipe': True} if s.sync or s.r.random() < .5 else {'power': True}))
    def restart(s, i):
        br = s.b[i]
        if br.up: return
        br.up = True
        if br.dark: s.after_power(br)
        if 'epoch_reuse' in s.mut and br.saved and br.saved[1] and s.alive[i] and s.vm[br.saved[1]['v']].state == 'OPEN':
            parts, vl, bep = br.saved; br.bepoch = bep; cut = s.r.randrange(3)
            if cut: vl['ents'] = vl['ents'][:max(vl['seg'].start, len(vl['ents'])-cut)]
            for p, part in parts.items():
                n = sum(1 for e in vl['ents'] if e[0] == p and e[6] == part['epoch']) + len(part['home'])
                part['log'] = part['log'][:max(n, 0)]; part['hw'] = min(part['hw'], len(part['log']))
                part['seqs'] = {}
                for e in part['log']: part['seqs'][e[2]] = max(part['seqs'].get(e[2], -1), e[3])
            vl['d'] = min(vl['d'], len(vl['ents'])); vl['acked'] = {x: 0 for x in vl['acked']}
            br.parts, br.vlog = parts, vl; return
        s.register(i)
    def register(s, i):
        """A new incarnation: new broker epoch; whatever the old one owned is recovered by the others."""
        was = s.alive[i]; s.alive[i] = True; s.bep[i] += 2
        if was: s.sealing(i)
        s.b[i].clear()
        if not s.new_vlog(s.b[i], s.bep[i]): s.alive[i] = was; return
        for p, q in s.pm.items():
            if q.leader == i: s.move(p, i if was else None)                      # rule 2b: back within its session
        s.solo_back(i)

    # ---- one copy (18b) -----------------------------------------------------------------
    def solo_dead(s, i):
        if s.solo['leader'] != i: return
        s.solo['leader'] = -1; s.solo['epoch'] += 1
        if 'move_single' in s.mut:
            c = [j for j in range(N) if j != i and s.alive[j] and s.b[j].up]
            if c: s.solo['leader'] = s.r.choice(c); s.solo['store'] = (s.solo['leader'], s.b[s.solo['leader']].inc)
    def solo_back(s, i):
        if s.solo['leader'] in (i, -1) and s.solo['store'][0] == i:
            same = s.solo['store'] == (i, s.b[i].inc) or 'any_store' in s.mut
            s.solo['leader'] = i if same else -1; s.solo['epoch'] += 1; s.cover['solo back' if same else 'solo lost'] += 1
    def solo_step(s):
        q = s.solo; i = q['leader']
        if i < 0 or not s.b[i].up or not s.alive[i]: return
        log = s.b[i].solo
        if s.r.random() < .5: log.append(len(log)); q['acked'] = len(log); s.cover['solo acked'] += 1
        else:
            if len(log) < q['seen'] and not (q.get('lost') and s.b[i].inc == q['store'][1]): raise Violation('high watermark of the single copy went back')
            if len(log) < q['acked'] and not q.get('lost'): raise Violation('acked write of the single copy lost')
            q['seen'] = max(len(log), 0 if q.get('lost') else q['seen'])
            if q.get('lost') and s.b[i].inc == q['store'][1]: q['lost'] = False; q['acked'] = q['seen'] = len(log)

    # ---- clients ------------------------------------------------------------------------
    def produce(s, p):
        w = s.prod[p]; q = s.pm[p]
        lead = q.leader if s.r.random() < .8 else s.r.randrange(N)
        br = s.b[lead]
        if not br.up: return
        if not w['busy']: w['busy'] = True; w['seq'] += 1
        s.append(br, p, 7, w['seq'], (p, w['seq']))
    def collect(s, p):
        w = s.prod[p]
        if not w['busy']: return
        for br in s.b:
            part = br.parts.get(p)
            if br.up and part and part['online']:
                for e in part['log'][:part['hw']]:
                    if e[2] == 7 and e[3] == w['seq']:
                        s.acked[p][w['seq']] = e[1]; w['busy'] = False; s.cover['acked'] += 1; return
    def serve(s, br, p, lo, hi):
        """What a fetch returns: own entries, and for old offsets what an eligible copy holds (None: not now)."""
        part = br.parts[p]; out = []; copies = {}
        for off in range(lo, hi):
            if off not in part['home'] or off in part['local']: out.append(part['log'][off]); continue
            v, sid = part['home'][off]; g = s.seg(v, sid)
            if sid not in copies:
                bk = g.backups if s.r.random() < .7 or sid not in part['view'] else part['view'][sid]   # maybe stale metadata
                c = [x for x, inc in bk if s.intact(v, g, x, inc)]
                if 'bad_read' in s.mut: c = [x for x in range(N) if (v, sid) in s.b[x].store]
                c = [x for x in c if s.b[x].up and (br.id, x) not in s.cut]
                if not c: return None
                copies[sid] = {e[1]: e for e in s.clip(g, s.b[s.r.choice(c)].store[(v, sid)].ents) if e[0] == p and e[6] in part['valid']}
                s.cover['old vseg read'] += 1
            if off in copies[sid]: out.append(copies[sid][off])
        return out
    def consume(s, p):
        c = s.cons[p]
        if s.r.random() < .5 or c['lead'] is None:
            q = s.pm[p]
            if q.epoch >= c['ep']: c['lead'], c['ep'] = q.leader, q.epoch
        if s.r.random() < .15: c['lead'] = s.r.randrange(N)
        br = s.b[c['lead']]; part = br.parts.get(p)
        if not br.up or not part or not part['online']: return
        if 'no_epoch_check' not in s.mut and part['epoch'] != c['ep']: return    # FENCED / UNKNOWN_LEADER_EPOCH
        if c['off'] > part['hw']: raise Violation(f'high watermark went back under a consumer: p{p} wants {c["off"]}, hw {part["hw"]} (broker {br.id})')
        lo = 0 if s.r.random() < .3 else c['off']                                # sometimes re-read everything
        got = s.serve(br, p, lo, part['hw'])
        if got is None: s.cover['old read unavailable'] += 1; return
        if [e[1] for e in got] != list(range(lo, part['hw'])): raise Violation(f'consumer sees a hole p{p}: {[e[1] for e in got]}')
        for e in got:
            old = s.seen[p].setdefault(e[1], e[2:6])
            if old != e[2:6]: raise Violation(f'inconsistent offset p{p}@{e[1]}: {old} vs {e[2:6]}')
        c['off'] = part['hw']

    # ---- run ------------------------------------------------------------------------------
    def step(s, faults=True):
        s.now += 1; x = s.r.random(); i = s.r.randrange(N); p = s.r.randrange(P)
        if s.now % 20 == 0:
            s.check_copies()
            if s.hurt and s.healthy(): s.hurt = s.quiet = False
        if x < .55: s.deliver()
        elif x < .74:
            if s.b[i].up: s.leader_tick(s.b[i], faults)
        elif x < .82: s.produce(p)
        elif x < .86: s.collect(p)
        elif x < .91: s.consume(p)
        elif x < .94:
            if s.b[i].up and s.alive[i]: s.controller_tick(s.b[i])
            if s.r.random() < .3: s.solo_step()
        elif x < .95 and not faults or x < .945:
            q = s.pm[p]
            if q.state == 'RECOVERING' and (not s.alive[q.leader] or not s.b[q.leader].up or p not in s.b[q.leader].rec): s.move(p)
            if faults is False:
                for j in range(N):
                    if not s.b[j].up: s.restart(j)
                    elif not s.alive[j]: s.register(j)
        elif not faults: return
        elif x < .96:
            if not s.b[i].up: s.restart(i)
            elif not s.alive[i]: s.register(i)
        elif x < .9605: s.planned_move(p)
        elif x < .966: s.cut.add((i, s.r.randrange(N)))
        elif x < .972: s.cut.clear()
        elif x < .978: s.lose_disks(); s.check_copies()
        elif s.quiet or s.now % 500 > 320: return         # a calm stretch: redundancy comes back
        elif x < .985:
            if s.b[i].up and sum(b.up for b in s.b) > R: s.crash(i)
        elif x < .990: s.declare_dead(i)
        elif x < .9905 and s.sync:
            for j in range(N):
                if s.b[j].up: s.crash(j, power=True)
        elif x > .994:                                    # impatient controller: re-target a running recovery
            if s.pm[p].state == 'RECOVERING': s.cover['re-target'] += 1; s.move(p)
    def planned_move(s, p):
        q = s.pm[p]; part = s.b[q.leader].parts.get(p)
        if q.state == 'ONLINE' and part and part['online'] and s.b[q.leader].up: part['moving'] = True
    def settled(s, acks):
        """L1-L4: all online, every partition acks again, old sources gone, redundancy back, garbage freed."""
        for p, q in s.pm.items():
            b = s.b[q.leader]
            if not (q.state == 'ONLINE' and b.up and p in b.parts and b.parts[p]['epoch'] == q.epoch and b.vlog and not b.vlog['dead']): return 'offline'
            if len(q.sources) > 1 and 'expose_early' not in s.mut: return 'old sources'
            if len(s.acked[p]) <= acks[p]: return 'no acks'
        if s.short(): return 'under-replicated'
        return '' if all(g.freed or s.used(v, g) for v, m in s.vm.items() if m.state != 'OPEN' for g in m.segs) else 'garbage'
    def run(s):
        for _ in range(s.steps): s.step()
        s.cut.clear(); acks = [len(a) for a in s.acked]
        for p in range(P): s.cons[p]['lead'] = None
        for k in range(12000):
            s.step(False)
            if k % 50 == 0 and k > 300 and not s.settled(acks): break
        else:
            s.cover['stuck'] += 1; s.cover['stuck: '+s.settled(acks)] += 1; return
        for p, q in s.pm.items():
            log = s.b[q.leader].parts[p]['log']
            by = {e[3]: e[1] for e in log}; seqs = [e[3] for e in log]
            if len(set(seqs)) != len(seqs): raise Violation(f'duplicate in p{p}: {seqs}')
            for seq, off in s.acked[p].items():
                if by.get(seq) != off: raise Violation(f'lost acked write p{p} seq {seq} off {off} (log has {len(log)})')
            for off, v in s.seen[p].items():
                if off >= len(log) or log[off][2:6] != v: raise Violation(f'consumed entry gone p{p}@{off} {v}')
        s.cover['clean end'] += 1


MUTATIONS = ['', 'nofence', 'noseal', 'no_cas', 'stale_backup', 'quorum_any', 'hw_is_leo', 'expose_early', 'ack_memory', 'ack_memory,no_limbo', 'no_limbo', 'no_epoch_check', 'epoch_reuse', 'swap_in_place', 'no_attempt_filter', 'wait_empty',
             'no_lost_limbo', 'adopt_all', 'move_noroll', 'move_nowait', 'move_norefuse', 'move_single', 'any_store', 'no_rewiden', 'early_noseal', 'no_clip', 'drop_early', 'bad_read', 'hw_footer', 'no_repair', 'repair_r1', 'end_one', 'end_longest', 'del_fence', 'free_early', 'repair_nocopy', 'repair_shrink']
def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    muts = sys.argv[2].split(';') if len(sys.argv) > 2 else MUTATIONS
    early = float(sys.argv[3]) if len(sys.argv) > 3 else None
    known = {x for m in MUTATIONS for x in m.split(',')}
    if bad := sorted({x for m in muts for x in m.split(',')} - known): sys.exit(f"no such mutation: {', '.join(bad)}")
    for m in muts:
        bad = collections.Counter(); first = {}; cov = collections.Counter()
        for seed in range(n):
            sim = Sim(seed, [x for x in m.split(',') if x], early=early)
            try: sim.run()
            except Violation as e:
                k = str(e).split(' p')[0].split(':')[0].split(' (')[0]
                k = ' '.join(w for w in k.split() if not w[0].isdigit() and '(' not in w)[:45]
                bad[k] += 1; first.setdefault(k, (seed, str(e)))
            cov.update(sim.cover)
        print(f"{m or 'ALL RULES ON':24} runs {n}  violations {sum(bad.values())}  clean {cov['clean end']} stuck {cov['stuck']}", {k[7:]: c for k, c in cov.items() if k.startswith('stuck: ')} or '', flush=True)
        for k, c in bad.most_common(4): print(f"    {c:4} x {k}   e.g. seed {first[k][0]}: {first[k][1][:110]}", flush=True)
        if not m: print('    coverage', dict(cov))
if __name__ == '__main__': main()
