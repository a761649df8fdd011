import type { PodDeps } from '../pod-worker.ts'
import type { Timeline } from './timeline.ts'

/** The same dependencies, with everything that is done through them for one pod noted in its timeline. */
export function noteSteps(deps: Omit<PodDeps, 'noteStep'>, timeline: Timeline): PodDeps {
  const { calls, images, starts, ends } = deps
  const names = new Map<string, string>()
  const nameOf = (id: string | undefined) =>
    id === undefined ? 'container' : `container "${names.get(id) ?? id.slice(0, 12)}"`
  return {
    ...deps,
    noteStep: (name, work) => timeline.around(name, work),
    images: {
      ensure: (request, signal) =>
        timeline.around(`image of container "${request.podContainer.container.name}"`, () =>
          images.ensure(request, signal),
        ),
      ensureVolume: (request, signal) => {
        const ensure = () => images.ensureVolume(request, signal)
        // What is done in every pass would push out all that matters.
        return request.quiet ? ensure() : timeline.around(`image of volume "${request.volume.name}"`, ensure)
      },
    },
    starts: noteWaits(starts, { timeline, name: 'wait for a start slot' }),
    ends: noteWaits(ends, { timeline, name: 'wait for an end slot' }),
    calls: {
      ...calls,
      runPodSandbox: (request, signal) => timeline.around('create sandbox', () => calls.runPodSandbox(request, signal)),
      async createContainer(request, signal) {
        const name = request.config?.metadata?.name ?? ''
        const reply = await timeline.around(`create container "${name}"`, () => calls.createContainer(request, signal))
        names.set(reply.containerId, name)
        return reply
      },
      startContainer: (request, signal) =>
        timeline.around(`start ${nameOf(request.containerId)}`, () => calls.startContainer(request, signal)),
      stopContainer: (request, signal) =>
        timeline.around(`stop ${nameOf(request.containerId)}`, () => calls.stopContainer(request, signal)),
      async removeContainer(request, signal) {
        const reply = await timeline.around(`remove ${nameOf(request.containerId)}`, () =>
          calls.removeContainer(request, signal),
        )
        names.delete(request.containerId ?? '')
        return reply
      },
      stopPodSandbox: (request, signal) => timeline.around('stop sandbox', () => calls.stopPodSandbox(request, signal)),
      removePodSandbox: (request, signal) =>
        timeline.around('remove sandbox', () => calls.removePodSandbox(request, signal)),
    },
  }
}

/** Only the wait: what is done then has steps of its own. */
function noteWaits(
  turnstile: PodDeps['starts'],
  { timeline, name }: { readonly timeline: Timeline; readonly name: string },
): PodDeps['starts'] {
  return {
    async runInTurn(priority, work, signal) {
      const end = timeline.begin(name)
      try {
        return await turnstile.runInTurn(
          priority,
          () => {
            end()
            return work()
          },
          signal,
        )
      } catch (error) {
        end(error)
        throw error
      }
    },
  }
}
