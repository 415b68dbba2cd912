import { OmnimeterError } from '../../foundation/errors.ts';
import { type ErrorBody, type ErrorType, errorBody } from '../../protocol/error-body.ts';

const typesByStatus: Readonly<Record<number, ErrorType>> = {
  401: 'AuthenticationError',
  403: 'PermissionDeniedError',
  404: 'NotFoundError',
  409: 'ConflictError',
  429: 'RateLimitError',
  503: 'ServiceUnavailableError',
};

function typeOfStatus(status: number): ErrorType {
  return typesByStatus[status] ?? (status >= 500 ? 'InternalServerError' : 'BadRequestError');
}

/** A request that is refused, or fails: what the client reads in the error body. */
export class RequestError extends OmnimeterError {
  override readonly code = 'REQUEST';
  readonly status: number;
  readonly param: string | null;
  /** Headers of the reply beside its body. */
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param status HTTP status, also `code` of the body
   * @param param the field at fault
   */
  constructor(
    status: number,
    message: string,
    param: string | null = null,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(message);
    this.status = status;
    this.param = param;
    this.headers = headers;
  }

  body(): ErrorBody {
    return errorBody(this.message, typeOfStatus(this.status), this.status, this.param);
  }
}
