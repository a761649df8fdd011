import type * as Http from 'node:http'

/**
 * The values of node:http. An import statement would ask the module for every name it exports, also for its WebSocket, and that loads
 * all of undici: an eighth of a start and 4 MB, for what is not used here. Types are imported as usual.
 */
export const { Agent, ServerResponse, STATUS_CODES, createServer, request } = process.getBuiltinModule('node:http')

// Those that are classes are types too.
export type Agent = Http.Agent
export type ServerResponse = Http.ServerResponse
export type IncomingMessage = Http.IncomingMessage
