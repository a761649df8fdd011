import { CriCallError } from '../../cri/cri-call-error.ts'
import type { CriRequest, CriResponse } from '../../cri/cri-methods.ts'
import { ContainerState, ContainerStats } from '../../cri/generated/runtime-v1.ts'
import type { Container } from '../../cri/generated/runtime-v1.ts'
import { unlessMissing } from '../api/docker-error.ts'
import { CONTAINER_TYPE, TYPE_LABEL } from '../create/docker-labels.ts'
import type { DockerDeps } from '../docker-deps.ts'
import { listContainers } from './container-calls.ts'
import { listByLabels } from './inspect.ts'

interface DockerStats {
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } }
  readonly memory_stats?: { readonly usage?: number; readonly stats?: Readonly<Record<string, number>> }
}

const NANOS_PER_MS = 1_000_000n
// Docker walks all writable layers for their sizes.
const SIZES_KEPT_MS = 60_000

/** The sizes of the writable layers, which are expensive to know. */
export class LayerSizes {
  #sizes: ReadonlyMap<string, number> = new Map()
  #readAt: number | undefined
  #reading: Promise<void> | undefined

  /** As they were at most a while ago; a container that is younger than that has no entry. */
  async read({ api, clock }: Pick<DockerDeps, 'api' | 'clock'>, signal: AbortSignal) {
    const isFresh = this.#readAt !== undefined && clock.monotonic() - this.#readAt < SIZES_KEPT_MS
    if (!isFresh) {
      this.#reading ??= this.#refresh({ api, clock }, signal).finally(() => (this.#reading = undefined))
      await this.#reading
    }
    return this.#sizes
  }

  async #refresh({ api, clock }: Pick<DockerDeps, 'api' | 'clock'>, signal: AbortSignal): Promise<void> {
    const listed = await listByLabels(api, { [TYPE_LABEL]: CONTAINER_TYPE }, signal, { size: '1' })
    this.#sizes = new Map(listed.map(({ Id: id, SizeRw: size }) => [id, size ?? 0]))
    this.#readAt = clock.monotonic()
  }
}

export async function listContainerStats(
  deps: DockerDeps,
  sizes: LayerSizes,
  { filter }: CriRequest<'listContainerStats'>,
  signal: AbortSignal,
): Promise<CriResponse<'listContainerStats'>> {
  const { id = '', podSandboxId = '', labelSelector = {} } = filter ?? {}
  const wanted = { filter: { id, podSandboxId, labelSelector, state: undefined } }
  const [{ containers }, bytes] = await Promise.all([listContainers(deps, wanted, signal), sizes.read(deps, signal)])
  return { stats: await Promise.all(containers.map((container) => measure(deps, container, bytes, signal))) }
}

export async function containerStats(
  deps: DockerDeps,
  sizes: LayerSizes,
  { containerId }: CriRequest<'containerStats'>,
  signal: AbortSignal,
): Promise<CriResponse<'containerStats'>> {
  const filter = { id: containerId, podSandboxId: '', labelSelector: {}, state: undefined }
  const { containers } = await listContainers(deps, { filter }, signal)
  const [container] = containers
  if (container === undefined) throw new CriCallError('containerStats', 'NotFound', `no container "${containerId}"`)
  if (container.state !== ContainerState.CONTAINER_RUNNING)
    throw new CriCallError('containerStats', 'Unknown', `container "${containerId}" does not run`)
  return { stats: await measure(deps, container, await sizes.read(deps, signal), signal) }
}

async function measure(
  { api, clock }: DockerDeps,
  { id, metadata, labels, annotations, state }: Container,
  sizes: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<ContainerStats> {
  const timestamp = BigInt(clock.now()) * NANOS_PER_MS
  const query = { stream: '0', 'one-shot': '1' }
  const used =
    state === ContainerState.CONTAINER_RUNNING
      ? await unlessMissing(api.json<DockerStats>({ method: 'GET', path: `/containers/${id}/stats`, query }, signal))
      : undefined
  return ContainerStats.fromPartial({
    attributes: { id, metadata, labels, annotations },
    ...(used === undefined
      ? {}
      : {
          cpu: { timestamp, usageCoreNanoSeconds: toValue(used.cpu_stats?.cpu_usage?.total_usage) },
          memory: {
            timestamp,
            workingSetBytes: toValue(workingSet(used)),
            usageBytes: toValue(used.memory_stats?.usage),
          },
        }),
    writableLayer: { timestamp, usedBytes: toValue(sizes.get(id)) },
  })
}

function workingSet({ memory_stats: memory }: DockerStats): number {
  const inactive = memory?.stats?.['total_inactive_file'] ?? memory?.stats?.['inactive_file'] ?? 0
  return Math.max(0, (memory?.usage ?? 0) - inactive)
}

function toValue(number: number | undefined): { readonly value: bigint } {
  return { value: BigInt(number ?? 0) }
}
