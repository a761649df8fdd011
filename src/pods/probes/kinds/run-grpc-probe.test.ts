import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { GrpcHealth } from '../../../protocols/grpc/check-grpc-health.ts'
import { runGrpcProbe } from './run-grpc-probe.ts'

const never = new AbortController().signal
const target = { host: '10.0.0.2', port: 50_051, service: 'shop', timeoutSeconds: 2 }

describe('runGrpcProbe()', () => {
  const rows: readonly (readonly [health: GrpcHealth, result: string, output: string])[] = [
    [{ kind: 'answered', status: 'SERVING' }, 'success', 'service healthy'],
    [{ kind: 'answered', status: 'NOT_SERVING' }, 'failure', 'service unhealthy (responded with "NOT_SERVING")'],
    [
      { kind: 'connect-timeout', detail: 'why' },
      'failure',
      'timeout: failed to connect service "10.0.0.2:50051" within 2s: why',
    ],
    [{ kind: 'connect-failed', detail: 'why' }, 'failure', 'error: failed to connect service at "10.0.0.2:50051": why'],
    [{ kind: 'call-timeout', detail: 'why' }, 'failure', 'timeout: health rpc did not complete within 2s'],
    [
      { kind: 'unimplemented', detail: 'why' },
      'failure',
      'error: this server does not implement the grpc health protocol (grpc.health.v1.Health): why',
    ],
    [{ kind: 'call-failed', detail: 'why' }, 'failure', 'error: health rpc probe failed: why'],
  ]
  for (const [health, result, output] of rows) {
    test(output, async () => {
      let asked: unknown
      const checkGrpcHealth = async (request: object) => ((asked = request), health)
      assert.deepEqual(await runGrpcProbe({ checkGrpcHealth }, target, never), { result, output })
      const { host, port, service } = target
      assert.deepEqual(asked, { host, port, service, timeoutMs: 2000, userAgent: 'kube-probe/1.36' })
    })
  }
})
