import { expandVariables } from '../containers/environment/expand-variables.ts'
import type { Container } from '../../model/generated/core-v1.ts'

/** The command of an exec probe. It may use only those variables of its container whose values stand in the spec. */
export function computeProbeCommand(command: readonly string[], { env }: Pick<Container, 'env'>): string[] {
  const literal = (env ?? []).filter(({ valueFrom }) => valueFrom === undefined)
  const values = new Map(literal.map(({ name, value }) => [name, value ?? '']))
  return command.map((word) => expandVariables(word, (name) => values.get(name)))
}
