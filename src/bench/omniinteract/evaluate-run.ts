import { messageOf } from '../../foundation/errors.ts';
import type { CommandIo, OmniInteractRunOptions } from '../serve/options.ts';
import { type FinishedCase, isEligible, sampleIdOf, transcriptPathOf } from './batch-files.ts';

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
  options: NonNullable<OmniInteractRunOptions['evaluation']>,
  io: CommandIo,
): Promise<RunEvaluation> {
  try {
    // Lazy: most runs are not judged.
    const [{ evaluateOmniInteract }, { accuracyTable }, { readPromptsFile }] = await Promise.all([
      import('../../accuracy/omniinteract/evaluate-omniinteract.ts'),
      import('../../accuracy/omniinteract/accuracy-table.ts'),
      import('../../accuracy/omniinteract/read-prompts-file.ts'),
    ]);
    const eligible = finished.filter(({ result }) => isEligible(result));
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
      prompts: options.promptsFile === null ? null : readPromptsFile(options.promptsFile),
    });
    return { accuracy, lines: accuracyTable(accuracy) };
  } catch (error) {
    io.stderr(`warning: the OmniInteract evaluation failed: ${messageOf(error)}`);
    return { accuracy: { status: 'failed', error: messageOf(error) }, lines: [] };
  }
}
