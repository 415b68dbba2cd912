import type { EvaluationOptions } from '../../accuracy/omniinteract/evaluate-omniinteract.ts';
import { messageOf } from '../../foundation/errors.ts';
import type { CommandIo, OmniInteractRunOptions } from '../serve/options.ts';
import { type FinishedCase, isEligible, sampleIdOf, transcriptPathOf } from './batch-files.ts';

/** How it is judged, the prompts read. */
export type Evaluation = Omit<NonNullable<OmniInteractRunOptions['evaluation']>, 'promptsFile'> &
  Pick<EvaluationOptions, 'prompts'>;

export type RunEvaluation = {
  /** For the result file. */
  readonly accuracy: unknown;
  /** The table, for below the report. */
  readonly lines: readonly string[];
};

/**
 * Has a judge say how well the conversations went. What goes wrong is told and stored, and the run still succeeds.
 * @param root folder of the artifacts
 */
export async function evaluateRun(
  root: string,
  finished: readonly FinishedCase[],
  options: Evaluation,
  io: CommandIo,
): Promise<RunEvaluation> {
  try {
    // Lazy: most runs are not judged.
    const [{ evaluateOmniInteract }, { accuracyTable }] = await Promise.all([
      import('../../accuracy/omniinteract/evaluate-omniinteract.ts'),
      import('../../accuracy/omniinteract/accuracy-table.ts'),
    ]);
    const eligible = finished.filter(({ result }) => isEligible(result));
    io.stderr(`note: omniinteract: ${options.judge.model} judges ${eligible.length} cases.`);
    const accuracy = await evaluateOmniInteract({
      ...options,
      cases: eligible.map(({ one }) => ({
        sampleId: sampleIdOf(one),
        subset: one.subset,
        sceneName: one.sceneType,
        annotationPath: one.annotationPath,
        transcriptPath: transcriptPathOf(root, one),
      })),
      skipped: finished.length - eligible.length,
      progress: progressNotes(io),
      say: (line) => io.stderr(`note: omniinteract: ${line}`),
    });
    if (accuracy.status_reason !== null)
      io.stderr(`warning: the OmniInteract evaluation is ${accuracy.status}: ${accuracy.status_reason}`);
    return { accuracy, lines: accuracyTable(accuracy) };
  } catch (error) {
    io.stderr(`warning: the OmniInteract evaluation failed: ${messageOf(error)}`);
    return { accuracy: { status: 'failed', error: messageOf(error) }, lines: [] };
  }
}

/** What is known of an evaluation that the user did not wait for: that there is none yet. */
export function leftEvaluation(root: string, { judge }: Evaluation, io: CommandIo): RunEvaluation {
  const command = `omnimeter accuracy omniinteract evaluate ${root} --judge-model ${judge.model} --judge-base-url ${judge.baseUrl} --omniinteract-eval-skip-existing`;
  const error = `interrupted before all cases were judged; \`${command}\` goes on`;
  io.stderr(`warning: the OmniInteract evaluation was ${error}`);
  return { accuracy: { status: 'failed', error }, lines: [] };
}

/** A long evaluation shows that it goes on, ms. */
const quietMs = 10_000;

function progressNotes(io: CommandIo) {
  let saidAt = Date.now();
  return (done: number, total: number): void => {
    if (Date.now() - saidAt < quietMs) return;
    saidAt = Date.now();
    io.stderr(`note: omniinteract: ${done} of ${total} cases are judged.`);
  };
}

/**
 * Reads what an evaluation takes before anything is sent.
 * @throws InputFileError for a file of prompts that is none
 */
export async function preparedEvaluation(
  evaluation: OmniInteractRunOptions['evaluation'],
): Promise<Evaluation | null> {
  if (evaluation === null) return null;
  const { promptsFile, ...rest } = evaluation;
  if (promptsFile === null) return { ...rest, prompts: null };
  // Lazy: YAML is read for few.
  const { readPromptsFile } = await import('../../accuracy/omniinteract/read-prompts-file.ts');
  return { ...rest, prompts: readPromptsFile(promptsFile) };
}
