import { transportSuite } from '../contract/transport.suite.ts';
import { socketTransport } from './socket-transport.ts';

transportSuite(socketTransport);
