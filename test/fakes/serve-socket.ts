import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { ShutdownError } from '../../src/base/async/abort-errors.ts'
import { systemClock } from '../../src/base/async/clock.ts'
import { GrpcChannel } from '../../src/protocols/grpc/grpc-channel.ts'
import { toGrpcMethod } from '../../src/protocols/grpc/grpc-method.ts'
import type { GrpcMethod } from '../../src/protocols/grpc/grpc-method.ts'
import { runGrpcServer } from '../../src/protocols/grpc/run-grpc-server.ts'
import type { GrpcService } from '../../src/protocols/grpc/to-grpc-service.ts'
import { silentLogger } from '../../src/base/telemetry/silent-logger.ts'

/** Serves gRPC on a socket of its own for a test, and gives a client connected to it. */
export async function serveSocket(t: TestContext, services: readonly GrpcService[]) {
  const folder = mkdtempSync(join(tmpdir(), 'serve-socket-'))
  const socketPath = join(folder, 'api', 'api.sock')
  const stop = new AbortController()
  const listening = Promise.withResolvers<void>()
  const deps = {
    name: 'test',
    socketPath,
    services,
    clock: systemClock,
    log: silentLogger,
    onListening: listening.resolve,
  }
  const running = runGrpcServer(deps, stop.signal).catch((error: unknown) => {
    listening.reject(error)
    if (error !== stop.signal.reason) throw error
  })
  await listening.promise
  const channel = new GrpcChannel({ target: `unix://${socketPath}`, clock: systemClock })
  t.after(async () => {
    channel.close()
    stop.abort(new ShutdownError())
    await running
    rmSync(folder, { recursive: true })
  })
  return { channel, socketPath }
}

interface Described {
  readonly fullName: string
  readonly methods: Readonly<Record<string, unknown>>
}

/** A method of a generated service in the form that a client takes; the test knows the types of request and reply. */
export function toMethod<S extends Described>(service: S, name: keyof S['methods']): GrpcMethod<object, object> {
  return toGrpcMethod<object, object>(service.fullName, service.methods[String(name)] as never)
}
