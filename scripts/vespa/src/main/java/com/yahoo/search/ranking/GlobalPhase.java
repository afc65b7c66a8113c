package com.yahoo.search.ranking;

import com.yahoo.data.access.helpers.MatchFeatureData;
import com.yahoo.search.Query;
import com.yahoo.search.Result;
import com.yahoo.search.result.FeatureData;
import com.yahoo.search.result.Hit;
import com.yahoo.tensor.Tensor;
import com.yahoo.vespa.config.search.RankProfilesConfig;
import com.yahoo.vespa.config.search.core.OnnxModelsConfig;
import com.yahoo.vespa.config.search.core.RankingConstantsConfig;
import com.yahoo.vespa.config.search.core.RankingExpressionsConfig;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Runs the container's own global phase over match features that are given, as content nodes would
 * have sent them. The classes that do it are not public.
 */
public final class GlobalPhase {
    public record Input(String id, double firstPhase, Map<String, Double> features) {}

    /** The scores, best first. */
    public static Map<String, Double> scores(RankProfilesConfig profiles, String profile, Map<String, Tensor> inputs, List<Input> hits) {
        var evaluator = new RankProfilesEvaluator(profiles, new RankingConstantsConfig.Builder().build(),
                new RankingExpressionsConfig.Builder().build(), new OnnxModelsConfig.Builder().build(), null);
        var setup = evaluator.getGlobalPhaseSetup(profile).orElseThrow(() -> new IllegalArgumentException("profile " + profile + " has no global phase"));
        Set<String> wanted = new LinkedHashSet<>();
        setup.globalPhaseEvalSpec.fromMF().forEach(f -> wanted.add(f.matchFeatureName()));
        for (var n : setup.normalizers) n.inputEvalSpec().fromMF().forEach(f -> wanted.add(f.matchFeatureName()));
        List<String> names = List.copyOf(wanted);

        Query query = new Query();
        inputs.forEach((name, value) -> query.getRanking().getFeatures().put(name, value));
        Result result = new Result(query);
        MatchFeatureData data = new MatchFeatureData(names);
        for (Input input : hits) {
            var values = data.addHit();
            for (int i = 0; i < names.size(); i++) {
                Double value = input.features().get(names.get(i));
                if (value == null) throw new IllegalArgumentException("hit " + input.id() + " has no " + names.get(i) + "; wanted are " + names);
                values.set(i, value);
            }
            Hit hit = new Hit(input.id(), input.firstPhase());
            hit.setField("matchfeatures", new FeatureData(values));
            result.hits().add(hit);
        }
        GlobalPhaseRanker.rerankHitsImpl(setup, query, result);
        Map<String, Double> scores = new LinkedHashMap<>();
        for (Hit hit : result.hits()) scores.put(hit.getId().toString(), hit.getRelevance().getScore());
        return scores;
    }

    private GlobalPhase() {}
}
