import type { Clock } from '../../base/async/clock.ts'
import { request } from '../../base/builtin/http.ts'
import { machineArchitecture, readNodeImages } from './import-images.ts'
import { createOciArchive } from './oci-archive.ts'

/** Makes the node's own images from programs of this machine and gives Docker those that it does not have. */
export async function loadIntoDocker(
  clock: Clock,
  socketPath: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const images = await readNodeImages(clock, signal)
  const present = await Promise.all(
    images.map(async ({ name }) => (await ask(socketPath, { path: `/images/${name}/json` }, signal)) === 200),
  )
  const missing = images.filter((_, at) => present[at] !== true)
  if (missing.length === 0) return []
  const body = createOciArchive(missing, machineArchitecture)
  const status = await ask(socketPath, { method: 'POST', path: '/images/load?quiet=1', body }, signal)
  if (status !== 200) throw new Error(`Cannot load the node's images into Docker: it answered ${status}, expected 200`)
  return missing.map(({ name }) => name)
}

/** The status of Docker's answer. */
async function ask(
  socketPath: string,
  { method = 'GET', path, body }: { readonly method?: string; readonly path: string; readonly body?: Uint8Array },
  signal: AbortSignal,
): Promise<number> {
  const headers = body === undefined ? {} : { 'Content-Type': 'application/x-tar', 'Content-Length': body.length }
  return await new Promise((resolve, reject) => {
    const sent = request({ socketPath, method, path, headers, agent: false, signal })
    sent.once('response', (response) => {
      response.resume()
      response.once('end', () => resolve(response.statusCode ?? 0))
      response.once('error', reject)
    })
    sent.once('error', reject)
    sent.end(body)
  })
}
