import type { Container, EphemeralContainer } from '../generated/core-v1.ts'

const LARGEST_PORT = 65_535

/** The number of a port that a spec names by number, by the name of a port of the container, or by digits. */
export function resolvePort(port: number | string, container: Pick<Container | EphemeralContainer, 'ports'>): number {
  const named = container.ports?.find(({ name }) => name === port)?.containerPort
  const number = named ?? (typeof port === 'number' || /^\d+$/.test(port) ? Number(port) : undefined)
  if (number === undefined) throw new Error(`Cannot use port "${port}": the container has no port of this name`)
  if (!Number.isInteger(number) || number < 1 || number > LARGEST_PORT) {
    throw new Error(`Cannot use port "${port}": expected a number from 1 to ${LARGEST_PORT}`)
  }
  return number
}
