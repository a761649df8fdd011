import { ContainerEventResponse, ContainerEventType } from '../../cri/generated/runtime-v1.ts'
import type { DockerEvent } from '../api/docker-types.ts'
import { TYPE_LABEL } from '../create/docker-labels.ts'
import type { DockerDeps } from '../docker-deps.ts'
import { readJsonLines } from './read-json-lines.ts'

// A stop by Docker's API says so once more when all is done.
const TYPES: Readonly<Record<string, ContainerEventType>> = {
  start: ContainerEventType.CONTAINER_STARTED_EVENT,
  die: ContainerEventType.CONTAINER_STOPPED_EVENT,
  stop: ContainerEventType.CONTAINER_STOPPED_EVENT,
  destroy: ContainerEventType.CONTAINER_DELETED_EVENT,
}

/** What happens to containers of pods, as Docker reports it. Commands in containers are left out: with probes they are most of what happens. */
export async function* containerEvents(
  { api }: DockerDeps,
  signal: AbortSignal,
): AsyncGenerator<ContainerEventResponse, void> {
  const filters = JSON.stringify({ type: ['container'], event: Object.keys(TYPES), label: [TYPE_LABEL] })
  const response = await api.open({ method: 'GET', path: '/events', query: { filters } }, signal)
  for await (const line of readJsonLines(response)) {
    const event = line as unknown as DockerEvent
    const containerEventType = TYPES[event.Action]
    if (containerEventType === undefined) continue
    yield ContainerEventResponse.fromPartial({
      containerId: event.Actor.ID,
      containerEventType,
      createdAt: BigInt(event.timeNano ?? event.time * 1e9),
    })
  }
}
