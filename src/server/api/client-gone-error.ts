/** The client left before its reply was complete; there is nobody to tell. */
export class ClientGoneError extends Error {}
