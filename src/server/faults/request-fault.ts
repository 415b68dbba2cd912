/** What goes wrong with one reply. Events are counted from 0 as they leave; of a whole reply its body is event 0. */
export type RequestFault =
  /** Nothing is answered for so long. */
  | { readonly kind: 'slow-headers'; readonly ms: number }
  /** After so many events nothing more for so long; `null` = for ever. */
  | { readonly kind: 'stall'; readonly afterEvents: number; readonly ms: number | null }
  /** After so many events the connection is reset. */
  | { readonly kind: 'reset'; readonly afterEvents: number }
  /** After so many events an error event, and the stream ends. A whole reply is a 500, a job fails. */
  | { readonly kind: 'error-event'; readonly afterEvents: number }
  /** The first base64 text is no base64. */
  | { readonly kind: 'bad-base64' }
  /** Audio says that it has another rate than it has. */
  | { readonly kind: 'wrong-rate'; readonly sampleRateHz: number }
  /** Status 200 and no content. */
  | { readonly kind: 'empty' }
  /** Refused before any work. */
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterS: number | null }
  /** A replica of the stage dies as the request comes, and starts again after so long; `null` = never. */
  | { readonly kind: 'dead-replica'; readonly stageId: number; readonly backAfterMs: number | null }
  /** The stage takes so many times as long for this request. */
  | { readonly kind: 'slow-stage'; readonly stageId: number; readonly factor: number };
