/** How many colours there are to tell nodes apart; `styles/nodes.css` has them. */
const COLOURS = 8

/** The colour of each node, the same at all of its visits and in the graph, as the name of a class. */
export function coloursOf(nodes: readonly { readonly id: string }[]): ReadonlyMap<string, string> {
  return new Map(nodes.map(({ id }, index) => [id, `sw-node-${index % COLOURS}`]))
}
