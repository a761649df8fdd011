import type { Ingress } from '../../../model/generated/api-groups.ts'
import type { Live } from '../../engine/live-object.ts'
import type { IngressPorts, PortProblem } from './ingress-ports.ts'
import type { IngressProblem } from './ingress-route.ts'

/** What Ingresses lack by ports that cannot be listened on. */
export function computePortProblems(
  served: readonly Live<Ingress>[],
  asked: IngressPorts,
  problems: readonly PortProblem[],
): readonly IngressProblem[] {
  return served.flatMap((ingress) =>
    problems
      .filter((problem) => needsPort(ingress, asked, problem))
      .map((problem) => ({ ingress, reason: 'NotServed', message: formatPortProblem(problem) })),
  )
}

/** Whether an Ingress is meant for a port: all are for HTTP, those with certificates for HTTPS too, and all where there is nothing else. */
export function needsPort(
  { spec }: Pick<Ingress, 'spec'>,
  asked: Partial<IngressPorts>,
  { protocol }: Pick<PortProblem, 'protocol'>,
): boolean {
  return protocol === 'http' || asked.http === undefined || (spec?.tls ?? []).length > 0
}

/** As in "HTTPS on port 443 is not served: it is taken by another program". */
export function formatPortProblem({ protocol, port, why }: PortProblem): string {
  return `${protocol.toUpperCase()} on port ${port} is not served: ${why}`
}
