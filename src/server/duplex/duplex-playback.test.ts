import { describe, expect, test } from 'vitest';
import { inside, type VirtualClient, VirtualDuplex } from './virtual-duplex.suite.ts';

const text = 'One two three four.';
const script = { sessions: [{ responses: [{ text, audio_s: 4, at_ms: 0, ttft_ms: 100, rtf: 0.5 }] }] };

/** A client to whom four seconds have been said: ten words would be too few, so a word a second. */
function told(over: Readonly<Record<string, unknown>> = {}): {
  world: VirtualDuplex;
  client: VirtualClient;
  id: string;
} {
  const world = new VirtualDuplex(script);
  const client = world.connect().open(over);
  client.stream(1200);
  world.pass(5000);
  return { world, client, id: client.response() };
}

const ack = (client: VirtualClient, fields: object): void => client.say({ type: 'playback.ack', ...fields });

function acknowledged(client: VirtualClient): unknown {
  return client.of('playback.acknowledged').at(-1)?.event;
}

function heard(client: VirtualClient, id: string): unknown {
  client.say({ type: 'conversation.item.retrieve', item_id: `item_${id}` });
  return inside(client.of('conversation.item.retrieved').at(-1), 'item', 'content', '0', 'transcript');
}

describe('playback that is acknowledged', () => {
  test('is cumulative, and only what was heard is history', () => {
    const { client, id } = told();
    ack(client, { played_ms: 2100, response_id: id, item_id: `item_${id}` });
    expect(acknowledged(client)).toMatchObject({
      type: 'playback.acknowledged',
      epoch: 0,
      response_id: id,
      item_id: `item_${id}`,
      played_ms: 2100,
      committed_ms: 2100,
      playback: { generated_ms: 4000, sent_ms: 4000, played_ms: 2100, committed_ms: 2100 },
      history_committed: true,
    });
    expect(heard(client, id)).toBe('One two');
    ack(client, { played_ms: 1000, response_id: id });
    expect(acknowledged(client)).toMatchObject({
      playback: { played_ms: 2100, committed_ms: 2100 },
      history_committed: false,
    });
    ack(client, { played_ms: 9000, response_id: id });
    expect(acknowledged(client)).toMatchObject({ playback: { played_ms: 4000, committed_ms: 4000 } });
    expect(heard(client, id)).toBe(text);
  });

  test('may be cut', () => {
    const { client, id } = told();
    ack(client, { played_ms: 4000, response_id: id });
    ack(client, { played_ms: 4000, committed_ms: 1000, truncate: true, response_id: id });
    expect(acknowledged(client)).toMatchObject({ playback: { played_ms: 4000, committed_ms: 1000 } });
    expect(heard(client, id)).toBe('One');
    client.say({
      type: 'conversation.item.truncate',
      item_id: `item_${id}`,
      content_index: 0,
      audio_end_ms: 3050,
    });
    expect(client.of('conversation.item.truncated')[0]).toMatchObject({
      item_id: `item_${id}`,
      audio_end_ms: 3050,
    });
    expect(heard(client, id)).toBe('One two three');
  });

  test('may name the time as audio_ms, and the response by its item or not at all', () => {
    const { client, id } = told();
    ack(client, { audio_ms: 0 });
    expect(acknowledged(client)).toMatchObject({ response_id: id, played_ms: 0, history_committed: true });
    ack(client, { played_ms: 500, item_id: `item_${id}` });
    expect(acknowledged(client)).toMatchObject({ response_id: id, played_ms: 500 });
  });

  test.each([
    ['no time', {}, 'bad_event'],
    ['a time that is none', { played_ms: '5' }, 'bad_event'],
    ['a time below 0', { played_ms: -1 }, 'bad_event'],
    [
      'another item',
      { played_ms: 5, item_id: 'item_resp_other', response_id: 'resp_x' },
      'playback_item_mismatch',
    ],
    ['an item that there is not', { played_ms: 5, item_id: 'item_resp_other' }, 'playback_item_not_found'],
    ['a response that there is not', { played_ms: 5, response_id: 'resp_other' }, 'playback_item_not_found'],
  ])('with %s is refused', (_what, fields, code) => {
    const { client } = told();
    ack(client, fields);
    expect(client.errors()).toEqual([code]);
  });

  test('is too late once a later input was committed, unless its place was kept before', () => {
    const late = told();
    late.client.stream(400);
    late.client.commit();
    ack(late.client, { played_ms: 100, response_id: late.id });
    expect(late.client.errors()).toEqual(['playback_ack_too_late']);
    expect(late.client.of('error')[0]).toMatchObject({
      error: { message: expect.stringContaining('a later user input was committed') },
    });

    const inTime = told();
    ack(inTime.client, { played_ms: 0, response_id: inTime.id });
    inTime.client.stream(400);
    inTime.client.commit();
    ack(inTime.client, { played_ms: 100, response_id: inTime.id });
    expect(inTime.client.errors()).toEqual([]);
    expect(inTime.client.of('input_audio_buffer.committed')[0]).toMatchObject({ event: { history_len: 2 } });
  });

  test('is not needed where all that is said counts', () => {
    const { client, id } = told({ playback_commit_policy: 'commit_all_on_done' });
    expect(client.of('response.done')[0]).toMatchObject({
      response: { metadata: { committed: true, playback: { played_ms: 0, committed_ms: 4000 } } },
    });
    expect(heard(client, id)).toBe(text);
  });

  test('can be refused by the script', () => {
    const world = new VirtualDuplex({
      sessions: [{ ...script.sessions[0], refuse_acks: { from: 2, code: 'playback_ack_too_late' } }],
    });
    const client = world.connect().open();
    client.stream(1200);
    world.pass(5000);
    for (let count = 0; count < 3; count += 1)
      ack(client, { played_ms: 100, response_id: client.response() });
    expect(client.of('playback.acknowledged')).toHaveLength(1);
    expect(client.errors()).toEqual(['playback_ack_too_late', 'playback_ack_too_late']);
  });
});
