import type { Container, Int64 } from '../../../model/generated/core-v1.ts'
import { goJson } from '../../../model/text/go-json.ts'
import type { Pod } from '../../../model/pod/pod.ts'

/** The text of an event about a resize; tools read the resources in it. */
export function resizeMessage(
  word: string,
  {
    pod,
    generation,
    error = '',
  }: { readonly pod: Pod; readonly generation: Int64 | undefined; readonly error?: string },
): string {
  const summary = (containers: readonly Container[]) =>
    containers.map(({ name, resources }) => ({
      name,
      resources: {
        ...(resources?.limits && { limits: sorted(resources.limits) }),
        ...(resources?.requests && { requests: sorted(resources.requests) }),
        ...(resources?.claims && { claims: resources.claims }),
      },
    }))
  const { initContainers = [], containers } = pod.spec
  const json = goJson({
    ...(initContainers.length === 0 ? {} : { initContainers: summary(initContainers) }),
    containers: summary(containers),
    generation: generation ?? 0,
    ...(error === '' ? {} : { error }),
  })
  return `Pod resize ${word}: ${json}`
}

function sorted(amounts: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(amounts).sort(([a], [b]) => (a < b ? -1 : 1)))
}
