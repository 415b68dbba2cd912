import { transportSuite } from './contract/transport.suite.ts';
import { nodeHttpTransport } from './node-http-transport.ts';

transportSuite(nodeHttpTransport);
