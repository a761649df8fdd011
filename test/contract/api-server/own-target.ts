import { join } from 'node:path'
import { makeTemporaryFolder } from '../../fixtures/make-temporary-folder.ts'
import { startApiServer } from '../../component/api-server/start-secured-api.ts'
import { connectTarget } from './api-target.ts'
import type { ApiTarget } from './api-target.ts'

/** Our own API server, whole and with its port on loopback. */
export async function startOwnTarget(): Promise<ApiTarget> {
  const folder = makeTemporaryFolder()
  const server = await startApiServer(folder)
  const target = await connectTarget(server.server, join(folder, 'pki'))
  return {
    send: (wire) => target.send(wire),
    async [Symbol.asyncDispose]() {
      await target[Symbol.asyncDispose]()
      await server.stop()
    },
  }
}
