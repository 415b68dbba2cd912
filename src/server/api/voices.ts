import type { FastifyInstance } from 'fastify';
import type { ApiContext } from './api-context.ts';
import { readForm } from './form-body.ts';
import { clipReference } from './media-reference.ts';
import { requireCapability } from './model-routes.ts';
import { RequestError } from './request-error.ts';
import type { UploadedVoice, VoiceStore } from './voice-store.ts';

const path = '/v1/audio/voices';
const mostSampleBytes = 10 * 1024 * 1024;
const mostVoices = 1000;
const namePattern = /^[\p{L}\p{N}_.-]{1,64}$/u;

function textField(fields: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = fields[name];
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

function requiredText(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = textField(fields, name);
  if (value === null) throw new RequestError(400, `Field '${name}' is required`, name);
  return value;
}

/** `/v1/audio/voices`: lists the voices, takes new ones, deletes those. */
export function voicesRoutes(app: FastifyInstance, context: ApiContext, voices: VoiceStore): void {
  app.get(path, () => {
    requireCapability(context, 'speech');
    return { voices: voices.names(), uploaded_voices: voices.uploaded() };
  });

  app.post(path, async (request) => {
    requireCapability(context, 'speech');
    const { fields, files } = await readForm(request, context.limits);
    const sample = files.find(({ field }) => field === 'audio_sample');
    if (sample === undefined) throw new RequestError(400, "Field 'audio_sample' is required", 'audio_sample');
    const consent = requiredText(fields, 'consent');
    const name = requiredText(fields, 'name');
    if (!namePattern.test(name))
      throw new RequestError(
        400,
        'name must be 1 to 64 letters, digits, dots, dashes or underscores.',
        'name',
      );
    if (voices.isOwn(name)) throw new RequestError(400, `Voice '${name}' is one of the model's own.`, 'name');
    if (sample.bytes.length > mostSampleBytes)
      throw new RequestError(413, 'audio_sample must not be larger than 10 MiB.', 'audio_sample');
    if (voices.uploaded().length >= mostVoices)
      throw new RequestError(400, `${mostVoices} voices are uploaded already; delete one.`, 'name');
    const { durationS } = await clipReference('audio', sample.bytes, 'audio_sample', context);
    const refText = textField(fields, 'ref_text');
    const description = textField(fields, 'speaker_description');
    const voice: UploadedVoice = {
      name,
      consent,
      created_at: Math.floor(Date.now() / 1000),
      file_size: sample.bytes.length,
      mime_type: sample.mimeType,
      ...(refText === null ? {} : { ref_text: refText }),
      ...(description === null ? {} : { speaker_description: description }),
    };
    voices.add(voice, durationS ?? 0);
    return { success: true, voice };
  });

  app.delete<{ Params: { name: string } }>(`${path}/:name`, (request, reply) => {
    const { name } = request.params;
    if (voices.delete(name)) return { success: true, message: `Voice '${name}' deleted successfully` };
    return reply.code(404).send({ success: false, error: `Voice '${name}' not found` });
  });
}
