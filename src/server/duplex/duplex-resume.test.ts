import { describe, expect, test } from 'vitest';
import { inside, type VirtualClient, VirtualDuplex } from './virtual-duplex.suite.ts';

const script = {
  sessions: [{ responses: [{ text: 'One two three.', audio_s: 3, at_ms: 0, ttft_ms: 100, rtf: 1 }] }],
};

function facts(client: VirtualClient): { session_id: unknown; resume_token: unknown } {
  const [created] = client.of('session.created');
  return { session_id: inside(created, 'session', 'id'), resume_token: created?.resume_token };
}

function seqs(client: VirtualClient): unknown[] {
  return client.sent.flatMap(({ server_event_seq: seq }) => (seq === undefined ? [] : [seq]));
}

describe('a client that comes back', () => {
  test('is told what it missed, in order, and gets another token', () => {
    const world = new VirtualDuplex(script);
    const first = world.connect().open();
    first.stream(1200);
    world.pass(150);
    const last = Number(first.sent.at(-1)?.server_event_seq);
    first.connection.close();
    world.pass(5000);
    const second = world.connect();
    second.say({ type: 'session.resume', ...facts(first), last_received_server_event_seq: last });
    expect(second.sent[0]).toMatchObject({
      type: 'session.resumed',
      session_id: facts(first).session_id,
      attachment_generation: 2,
      session: { epoch: 0 },
    });
    // It has no place in the order: a client that drops what it has seen would else drop the replay.
    expect(second.sent[0]).not.toHaveProperty('server_event_seq');
    expect(second.sent[0]?.resume_token).not.toBe(facts(first).resume_token);
    expect(seqs(second)[0]).toBe(last + 1);
    const all = [...seqs(first), ...seqs(second)];
    expect(all).toEqual(all.map((_, index) => index + 1));
    expect(second.types()).toContain('response.done');
    // And the conversation goes on.
    second.say({ type: 'session.heartbeat' });
    expect(second.sent.at(-1)).toMatchObject({
      type: 'session.heartbeat_ack',
      server_event_seq: all.length + 1,
    });
  });

  test('takes the session from a socket that is still there', () => {
    const world = new VirtualDuplex();
    const first = world.connect().open();
    const second = world.connect();
    second.say({ type: 'session.resume', ...facts(first), last_received_server_event_seq: 2 });
    expect(first.sent.at(-1)).toMatchObject({ type: 'session.replaced', attachment_generation: 1 });
    expect(first.closedWith?.reason).toBe('replaced');
    expect(second.types()).toEqual(['session.resumed']);
    world.pass(60_000);
    expect(world.server.sessions).toBe(1);
  });

  test('can’t come twice with one token', () => {
    const world = new VirtualDuplex();
    const first = world.connect().open();
    const resume = { type: 'session.resume', ...facts(first), last_received_server_event_seq: 2 };
    world.connect().say(resume);
    const third = world.connect();
    third.say(resume);
    expect(third.errors()).toEqual(['invalid_resume_token']);
    expect(third.closedWith).not.toBeNull();
  });

  test('is told where its place is gone', () => {
    const world = new VirtualDuplex({}, { journal: { events: 4, chars: 1_000_000 } });
    const resumedAfter = (seq: number, acked: number | null): unknown => {
      const first = world.connect().open();
      for (let beat = 0; beat < 8; beat += 1) first.say({ type: 'session.heartbeat' });
      if (acked !== null) first.say({ type: 'session.event_ack', server_event_seq: acked });
      const second = world.connect();
      second.say({ type: 'session.resume', ...facts(first), last_received_server_event_seq: seq });
      const answer =
        second.sent.find(({ type }) => type === 'session.resync_required')?.reason ?? seqs(second);
      second.say({ type: 'session.close' });
      return answer;
    };
    // Ten events; the last four are kept.
    expect(resumedAfter(8, null)).toEqual([9, 10]);
    expect(resumedAfter(6, null)).toEqual([7, 8, 9, 10]);
    expect(resumedAfter(5, null)).toBe('journal_overflow');
    expect(resumedAfter(7, 8)).toBe('journal_gap');
    expect(resumedAfter(8, 8)).toEqual([9, 10]);
    expect(resumedAfter(11, null)).toBe('journal_gap');
  });

  test.each([
    ['without a token', { resume_token: undefined }, 'invalid_session_resume'],
    ['with a place that is none', { last_received_server_event_seq: -1 }, 'invalid_session_resume'],
    ['to a session that never was', { session_id: 'duplex-0' }, 'unknown_session'],
    ['with another token', { resume_token: 'x' }, 'invalid_resume_token'],
    ['after another has', { attachment_generation: 7 }, 'session_resume_conflict'],
  ])('%s is refused', (_what, over, code) => {
    const world = new VirtualDuplex();
    const first = world.connect().open();
    const second = world.connect();
    second.say({ type: 'session.resume', ...facts(first), ...over });
    expect(second.errors()).toEqual([code]);
    expect(second.closedWith).toMatchObject({ code: 1008, reason: code });
    first.say({ type: 'session.heartbeat' });
    expect(first.types()).toContain('session.heartbeat_ack');
  });

  test('to a session that can’t be resumed is refused', () => {
    const world = new VirtualDuplex({ sessions: [{ capabilities: { supports_session_resume: false } }] });
    const first = world.connect().open();
    const second = world.connect();
    second.say({ type: 'session.resume', ...facts(first) });
    expect(second.errors()).toEqual(['unsupported_session_resume']);
  });
});

describe('leases', () => {
  test('a session without a socket keeps its place for the grace, and no longer', () => {
    const world = new VirtualDuplex({}, { maxSessions: 1, disconnectGraceS: 30 });
    const first = world.connect().open();
    first.connection.close();
    world.pass(29_999);
    const refused = world.connect().open();
    expect(refused.errors()).toEqual(['resource_exhausted']);
    world.pass(1);
    expect(world.server.sessions).toBe(0);
    const late = world.connect();
    late.say({ type: 'session.resume', ...facts(first) });
    expect(late.errors()).toEqual(['session_resume_expired']);
    expect(world.connect().open().types()).toContain('session.created');
  });

  test('a session in which nothing happens ends, unless its client says that it is there', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open({ idle_timeout_s: 10 });
    world.pass(9000);
    client.say({ type: 'session.heartbeat' });
    world.pass(9999);
    expect(client.types()).not.toContain('session.expired');
    world.pass(1);
    expect(client.sent.slice(-2)).toMatchObject([
      { type: 'session.expired', reason: 'idle_ttl_expired' },
      { type: 'session.closed', reason: 'timeout' },
    ]);
    expect(client.closedWith).not.toBeNull();
    expect(world.server.sessions).toBe(0);
  });

  test('a lease that is made shorter counts at once', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open({ idle_timeout_s: 900 });
    client.say({ type: 'session.update', session: { idle_timeout_s: 5 } });
    world.pass(5000);
    expect(client.types()).toContain('session.expired');
  });

  test('closing frees the place at once, and nothing follows', () => {
    const world = new VirtualDuplex(script, { maxSessions: 1 });
    const client = world.connect().open();
    client.stream(1200);
    client.say({ type: 'session.close' });
    expect(client.sent.at(-1)).toMatchObject({
      type: 'session.closed',
      reason: 'client_close',
      event: { type: 'session.closed' },
    });
    const count = client.sent.length;
    world.pass(60_000);
    expect(client.sent).toHaveLength(count);
    expect(world.connect().open().types()).toContain('session.created');
  });

  test('a server that stops says so', () => {
    const world = new VirtualDuplex();
    const client = world.connect().open();
    world.server.close();
    expect(client.sent.at(-1)).toMatchObject({ type: 'session.closed', reason: 'shutdown' });
  });
});
