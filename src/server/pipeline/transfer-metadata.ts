/** From which stage to which. */
export type Edge = { readonly from: number; readonly to: number };

/** What the control plane tells the consumer of a payload, so that it can fetch it. */
export type TransferMetadata = {
  readonly requestId: string;
  readonly key: string;
  /** Of the payload itself, without what a transport wraps around it. */
  readonly sizeBytes: number;
  /** When the payload was ready to be fetched, ms on the clock of the process that put it. */
  readonly putMs: number;
  /** Time that putting it took, ms. */
  readonly txMs: number;
  /** Where it lies, in the connector's own terms; plain values, as it crosses processes. */
  readonly location: Readonly<Record<string, string | number>>;
};
