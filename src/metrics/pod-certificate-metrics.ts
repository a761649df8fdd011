import type { MetricSet } from '../base/telemetry/metric-set.ts'

/** A certificate that a projected volume shows, or should. */
export interface CertificateState {
  readonly signer: string
  readonly state: string
}

/** How many certificates of pods are in which state. */
export function addCertificateMetrics(set: MetricSet, states: () => readonly CertificateState[]): void {
  const definition = {
    name: 'kubelet_podcertificate_states',
    help: 'Certificates of pods, by signer and state.',
    labels: ['signer_name', 'state'] as const,
  }
  set.read(definition, () => {
    const groups = Map.groupBy(states(), ({ signer, state }) => JSON.stringify([signer, state]))
    return [...groups.values()].flatMap((group) => {
      const [first] = group
      if (first === undefined) return []
      return [{ labels: { signer_name: first.signer, state: first.state }, value: group.length }]
    })
  })
}
