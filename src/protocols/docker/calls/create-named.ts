import { randomBytes } from 'node:crypto'
import { CriCallError } from '../../cri/cri-call-error.ts'
import { DockerError, isMissing, unlessMissing } from '../api/docker-error.ts'
import { formatDockerName, SANDBOX_NAME } from '../create/docker-names.ts'
import type { DockerName } from '../create/docker-names.ts'
import type { DockerDeps } from '../docker-deps.ts'

const HELD_BY = /is already in use by container "?([0-9a-f]{12,64})"?/

interface Created {
  readonly Id: string
  readonly Warnings?: readonly string[] | null
}

/**
 * Makes a container under the name of its pod and attempt. A name that is held means that an earlier try got further than its caller
 * knew: the caller observes again. Only when Docker holds a name for a container that it does not have, another name is used.
 */
export async function createNamed(
  { api, log }: DockerDeps,
  name: DockerName,
  body: unknown,
  signal: AbortSignal,
): Promise<string> {
  const create = async (suffix?: string) => {
    const query = { name: formatDockerName(name, suffix) }
    return await api.json<Created>({ method: 'POST', path: '/containers/create', query, body }, signal)
  }
  const report = ({ Id: id, Warnings: warnings }: Created) => {
    if (warnings && warnings.length > 0) log.warn('Docker warns of a container', { id, warnings })
    return id
  }
  try {
    return report(await create())
  } catch (error) {
    const holder = error instanceof DockerError && error.status === 409 ? HELD_BY.exec(error.message)?.[1] : undefined
    if (holder === undefined) throw error
    const path = `/containers/${holder}/json`
    if ((await unlessMissing(api.json({ method: 'GET', path }, signal))) === undefined)
      return report(await create(randomBytes(4).toString('hex')))
    throw nameHeld(name, holder, error)
  }
}

/** In the words of containerd, which the agent knows. */
function nameHeld(
  { container, pod, namespace, uid, attempt }: DockerName,
  holder: string,
  cause: unknown,
): CriCallError {
  const isSandbox = container === SANDBOX_NAME
  const text = [...(isSandbox ? [] : [container]), pod, namespace, uid, String(attempt)].join('_')
  const detail = `failed to reserve ${isSandbox ? 'sandbox' : 'container'} name "${text}": name "${text}" is reserved for "${holder}"`
  return new CriCallError(isSandbox ? 'runPodSandbox' : 'createContainer', 'Unknown', detail, { cause })
}

/** Removes a container with its anonymous volumes, running or not; one that is gone or going is removed. */
export async function removeForced({ api }: Pick<DockerDeps, 'api'>, id: string, signal: AbortSignal): Promise<void> {
  const path = `/containers/${encodeURIComponent(id)}`
  try {
    await api.json({ method: 'DELETE', path, query: { v: '1', force: '1' } }, signal)
  } catch (error) {
    const isUnderWay =
      error instanceof DockerError && error.status === 409 && error.message.includes('already in progress')
    if (!isMissing(error) && !isUnderWay) throw error
  }
}
