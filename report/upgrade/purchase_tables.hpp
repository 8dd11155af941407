// The tables of the answer over several candidates, made once for text, Markdown, and HTML.
#pragma once

#include "analysis/upgrade/purchase.hpp"

#include <string>
#include <vector>

namespace eyeroof::report {

struct Table {
    std::string title;
    std::vector<std::string> columns;
    std::vector<std::vector<std::string>> rows;
    std::vector<std::string> meanings = {}; // beside the rows: tooltips; empty: of no row
};

// A column for what is there and one for each candidate. The first column names the figure; the
// last row has the verdicts.
Table candidates_table(const analysis::Purchase& purchase);
Table beside_table(const analysis::PurchaseAnswer& answer);
// Under each price table; no rows where there are fewer than two.
Table prices_table(const analysis::PurchaseAnswer& answer);
Table flips_table(const analysis::PurchaseAnswer& answer);
Table evidence_table(const analysis::PurchaseAnswer& answer, std::size_t most);

// All of them, of the best answer, and with no more evidence than a sheet has space for.
std::vector<Table> tables_of(const analysis::Purchase& purchase);
std::vector<Table> sheet_tables(const analysis::Purchase& purchase);

// Type of the printed sheet, in points: the largest that keeps it on one page of A4 or Letter.
double sheet_type(const analysis::Purchase& purchase);

// What runs, in words: the scenario of the old side as `exam` states it, and what is other on each
// new one.
std::vector<std::string> scenario_lines(const analysis::Purchase& purchase);
std::string terms_text(const analysis::Purchase& purchase);
// Whether something published has much in common with the question.
bool is_near(const analysis::Upgrade& upgrade);
// "v100-sxm2-16gb $0.97/h (source)" of each GPU.
std::vector<std::string> price_lines(const analysis::Purchase& purchase);
// How the prediction came about, how far it can be trusted, and what would make it better.
std::vector<std::string> remarks(const analysis::Purchase& purchase);

std::string bought_how(const analysis::PurchaseOption& option); // "owned", "bought", "rented"

} // namespace eyeroof::report
