/** Statements that a Citus cluster needs; on plain PostgreSQL they do nothing. */

/** The table that decides how the rows of all tables of a store are distributed: equal keys are on the same node. */
export const FIRST_TABLE = 'smalt_outbox'

/** Distributes the rows of a table over the nodes by one column. */
export function distribute(table: string, column: string): string {
  return onCluster(table, distribution(table, column, FIRST_TABLE))
}

/**
 * The same for the first table of a store. It joins no tables of other applications: Citus would require that their keys
 * have the collation of ours.
 */
export function distributeFirst(table: typeof FIRST_TABLE, column: string): string {
  return onCluster(table, distribution(table, column, 'none'))
}

function distribution(table: string, column: string, beside: string): string {
  return `perform create_distributed_table('${table}', '${column}', colocate_with => '${beside}')`
}

/** Two nested conditions, because the catalogue of distributed tables exists only where the extension is installed. */
function onCluster(table: string, work: string): string {
  return `do $$ begin
    if exists (select 1 from pg_extension where extname = 'citus') then
      if not exists (select 1 from pg_dist_partition where logicalrelid = '${table}'::regclass) then
        ${work};
      end if;
    end if;
  end $$`
}
