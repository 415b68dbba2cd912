import { describe } from 'vitest';
import type { Transport, TransportOptions } from '../transport.ts';
import { connectionCases } from './connections.suite.ts';
import { endingCases } from './endings.suite.ts';
import { framingCases } from './framing.suite.ts';
import { loadCases } from './load.suite.ts';
import type { SuiteContext } from './observed-exchange.suite.ts';
import { plainOptions } from './observed-exchange.suite.ts';
import { requestCases } from './requests.suite.ts';
import { secureCases } from './secure.suite.ts';

/** The contract of {@link Transport}, for each implementation of it. */
export function transportSuite(make: (options: TransportOptions) => Transport): void {
  const context: SuiteContext = { create: (options = {}) => make({ ...plainOptions, ...options }) };
  describe('transport contract', () => {
    framingCases(context);
    requestCases(context);
    connectionCases(context);
    endingCases(context);
    secureCases(context);
    loadCases(context);
  });
}
