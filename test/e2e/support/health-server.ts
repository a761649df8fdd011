/** Run as a program in the network of a pod: answers over gRPC or HTTPS whether a file is there. Arguments: kind, port, file. */
import { existsSync } from 'node:fs'
import { createServer } from 'node:https'
import process from 'node:process'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js'
import { HealthDefinition } from '../../../src/protocols/grpc/generated/grpc-health.ts'
import type { HealthCheckRequest, HealthCheckResponse } from '../../../src/protocols/grpc/generated/grpc-health.ts'
import { toGrpcMethod } from '../../../src/protocols/grpc/grpc-method.ts'
import { selfSigned } from '../../fixtures/self-signed.ts'

const [, , kind, port, file = ''] = process.argv
const SERVING = 1
const NOT_SERVING = 2

function check(
  { request }: ServerUnaryCall<HealthCheckRequest, HealthCheckResponse>,
  reply: sendUnaryData<HealthCheckResponse>,
): void {
  reply(null, { status: request.service === 'shop' && existsSync(file) ? SERVING : NOT_SERVING })
}

if (kind === 'grpc') {
  const server = new Server()
  server.addService({ check: toGrpcMethod(HealthDefinition.fullName, HealthDefinition.methods.check) }, { check })
  server.bindAsync(`0.0.0.0:${port}`, ServerCredentials.createInsecure(), (error) => {
    if (error !== null) throw error
  })
} else {
  createServer(selfSigned, (_, response) => response.writeHead(existsSync(file) ? 200 : 503).end()).listen(Number(port))
}
