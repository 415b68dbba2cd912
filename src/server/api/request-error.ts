import { OmnimeterError } from '../../foundation/errors.ts';
import { type ErrorBody, type ErrorType, errorBody } from '../../protocol/error-body.ts';

function typeOfStatus(status: number): ErrorType {
  if (status === 404) return 'NotFoundError';
  if (status === 503) return 'ServiceUnavailableError';
  return status >= 500 ? 'InternalServerError' : 'BadRequestError';
}

/** A request that is refused, or fails: what the client reads in the error body. */
export class RequestError extends OmnimeterError {
  override readonly code = 'REQUEST';
  readonly status: number;
  readonly param: string | null;

  /**
   * @param status HTTP status, also `code` of the body
   * @param param the field at fault
   */
  constructor(status: number, message: string, param: string | null = null) {
    super(message);
    this.status = status;
    this.param = param;
  }

  body(): ErrorBody {
    return errorBody(this.message, typeOfStatus(this.status), this.status, this.param);
  }
}
