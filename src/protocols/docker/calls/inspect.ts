import { CriCallError } from '../../cri/cri-call-error.ts'
import type { DockerApi } from '../api/docker-api.ts'
import { unlessMissing } from '../api/docker-error.ts'
import type { InspectedContainer, ListedContainer } from '../api/docker-types.ts'
import { CONTAINER_TYPE, SANDBOX_ID_LABEL, SANDBOX_TYPE, TYPE_LABEL } from '../create/docker-labels.ts'

/** A container of a pod, or its sandbox; undefined when there is none of this id. */
export async function inspect(
  api: DockerApi,
  id: string,
  type: typeof SANDBOX_TYPE | typeof CONTAINER_TYPE,
  signal: AbortSignal,
): Promise<InspectedContainer | undefined> {
  if (id === '') return undefined
  const path = `/containers/${encodeURIComponent(id)}/json`
  const found = await unlessMissing(api.json<InspectedContainer>({ method: 'GET', path }, signal))
  return found?.Config.Labels?.[TYPE_LABEL] === type ? found : undefined
}

/** As inspect(), but it has to be there. */
export async function requireContainer(
  api: DockerApi,
  method: string,
  id: string,
  signal: AbortSignal,
): Promise<InspectedContainer> {
  const found = await inspect(api, id, CONTAINER_TYPE, signal)
  if (found === undefined)
    throw new CriCallError(method, 'NotFound', `an error occurred when try to find container "${id}": not found`)
  return found
}

/** The containers that have all of these labels, whether they run or not. */
export async function listByLabels(
  api: DockerApi,
  labels: Readonly<Record<string, string>>,
  signal: AbortSignal,
  query: Readonly<Record<string, string>> = {},
): Promise<readonly ListedContainer[]> {
  const label = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  const filters = JSON.stringify({ label })
  return await api.json({ method: 'GET', path: '/containers/json', query: { all: '1', filters, ...query } }, signal)
}

/** The containers in a sandbox. */
export async function listInSandbox(
  api: DockerApi,
  sandboxId: string,
  signal: AbortSignal,
): Promise<readonly ListedContainer[]> {
  return await listByLabels(api, { [TYPE_LABEL]: CONTAINER_TYPE, [SANDBOX_ID_LABEL]: sandboxId }, signal)
}
