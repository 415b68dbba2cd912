/** What every reply says of itself. */
export type ReplyIdentity = {
  /** `chatcmpl-…` or `cmpl-…`. */
  readonly id: string;
  /** Unix seconds. */
  readonly createdS: number;
  /** The served model's name. */
  readonly model: string;
};
